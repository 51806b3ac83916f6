// Package corpus makes long sessions for benchmarks: valid, undamaged, and with records of the sizes and kinds that recorded
// sessions have. In: a size and a seed. Out: the same bytes every time.
package corpus

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
)

// Options say what a session is like.
type Options struct {
	Size      int64 // bytes; the last turn is completed even if that takes more
	Seed      int64
	Paginated bool // as 0.169.0 writes, with ordinals and with each item in two records; else as 0.114.0 does
	Images    bool // four lines of 20 MB with an inline image, if Size leaves room for them
	Text      int  // median length of the texts, in bytes; 0: as in recorded sessions of long use
}

// Text lengths follow a log-normal distribution: half of the texts are longer than medianText, one in a hundred is
// longer than spread times as much. So half of the lines of a session are longer than 1.5 KB, and one in a hundred is
// longer than 22 KB.
const (
	medianText = 3600
	spread     = 8
	imageSize  = 20 << 20
)

// z99 is the 99th percentile of the normal distribution, in standard deviations above the median.
const z99 = 2.326

type writer struct {
	out      *bufio.Writer
	opts     Options
	rng      *rand.Rand
	pieces   []piece // texts to take from
	written  int64
	ordinal  int64
	calls    int
	turns    int
	images   int
	err      error
	nextTime int64
}

// piece is a text escaped for a JSON string, and escaped again for a JSON string within one.
type piece struct{ once, twice string }

// Write writes a session.
func Write(to io.Writer, o Options) error {
	if o.Text == 0 {
		o.Text = medianText
	}
	w := &writer{out: bufio.NewWriterSize(to, 1<<20), opts: o, rng: rand.New(rand.NewSource(o.Seed))}
	w.pieces = pieces(w.rng)
	version, mode := "0.114.0", "legacy"
	if o.Paginated {
		version, mode = "0.169.0", "paginated"
	}
	w.record("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":%q,"source":"exec","model_provider":"openai","history_mode":%q}`, thread, version, mode))
	for w.written < o.Size && w.err == nil {
		w.turn()
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

const thread = "01a1edfd-e191-74b0-9003-79b97f4a7c15"

func (w *writer) record(kind, payload string) {
	w.nextTime += 137
	ordinal := ""
	if w.opts.Paginated {
		ordinal = fmt.Sprintf(`"ordinal":%d,`, w.ordinal)
	}
	n, err := fmt.Fprintf(w.out, `{"timestamp":"2026-11-18T%02d:%02d:%02d.%03dZ",%s"type":%q,"payload":%s}`+"\n",
		w.nextTime/3600000%24, w.nextTime/60000%60, w.nextTime/1000%60, w.nextTime%1000, ordinal, kind, payload)
	w.ordinal++
	w.written += int64(n)
	if err != nil {
		w.err = err
	}
}
