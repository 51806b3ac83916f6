package cmd

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/source"
)

// When progress is shown: not for quick work, and no more often than the eye can follow.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// clearLine moves to the beginning of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// progress is a line on a terminal that shows how far a long task has come. A nil progress shows nothing.
type progress struct {
	w      io.Writer
	began  time.Time
	files  int
	total  int64 // bytes to read, of all files
	passes int64 // how often each is read

	mu    sync.Mutex
	done  int   // files
	read  int64 // bytes of them
	now   map[*source.Source]bool
	shown bool
	ended sync.Once
	stop  chan struct{}
}

// newProgress begins to show the progress of work that reads each target so many times. It returns nil if there is no terminal,
// or if the terminal is read out: it would be read five times a second.
func (e *env) newProgress(list []target, passes int64) *progress {
	if !isTerminal(e.err) || spoken() {
		return nil
	}
	p := &progress{w: e.err, began: time.Now(), files: len(list), passes: passes, now: map[*source.Source]bool{}, stop: make(chan struct{})}
	for _, t := range list {
		if info, err := os.Stat(t.path); err == nil {
			p.total += info.Size() * passes
		}
	}
	go p.show()
	return p
}

func (p *progress) show() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-tick.C:
			if took := now.Sub(p.began); took >= progressAfter {
				p.draw(took)
			}
		}
	}
}

func (p *progress) draw(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stop:
		return
	default:
	}
	p.shown = true
	fmt.Fprint(p.w, clearLine+p.line(took, widthOf(p.w)))
}

// line is the progress in at most so many columns, because a line that wraps can't be cleared. On a narrow terminal it says
// less; with width 0, everything.
func (p *progress) line(took time.Duration, width int) string {
	read := p.read
	for src := range p.now {
		read += src.BytesRead()
	}
	read = min(read, p.total)
	speed := float64(read) / took.Seconds()
	left := ""
	if speed > 0 {
		left = ", " + age(time.Duration(float64(p.total-read)/speed*float64(time.Second))) + " left"
	}
	files := fmt.Sprintf("%d of %d files", p.done, p.files)
	bytes := fmt.Sprintf(", %s of %s", bytesOf(read/p.passes), bytesOf(p.total/p.passes))
	rate := fmt.Sprintf(", %s/s", bytesOf(int64(speed)/p.passes))
	for _, text := range []string{files + bytes + rate + left, files + bytes + left, files + left} {
		if width == 0 || len(text) < width {
			return text
		}
	}
	return clip(files, width-1)
}

// begin counts a file that is about to be read. The function that it returns must be called when the file is done.
func (p *progress) begin(src *source.Source) (end func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now[src] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.now, src)
		p.done++
		p.read += max(0, src.Size()) * p.passes
	}
}

// clear removes the line from the terminal, before something else is printed.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, clearLine)
		p.shown = false
	}
}

// end removes the line for good; it may be called more than once.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.ended.Do(func() { close(p.stop) })
	p.clear()
}
