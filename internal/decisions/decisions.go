// Package decisions keeps the log of what pre-resume was asked and what it answered, which a wrapper forgets when it is
// restarted. In: one Decision at a time. Out: all of them. It holds no word of a conversation.
package decisions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/escape"
)

// Decision is one line of the log.
type Decision struct {
	ID        string    `json:"id"`               // the same in the line of an answer and in the later line that says what was done
	Time      time.Time `json:"time"`             // UTC
	Via       string    `json:"via,omitempty"`    // what led to the question: argv, or the method of a message, as thread/resume
	Caller    string    `json:"caller,omitempty"` // the name and version that the caller gave itself
	CWD       string    `json:"cwd,omitempty"`    // where hist was called, or the directory that it was asked about
	Asked     []string  `json:"asked"`            // the session that was asked for: an id, a path, or --last
	Thread    string    `json:"thread_id,omitempty"`
	Path      string    `json:"path,omitempty"`
	Verdict   string    `json:"verdict"`
	State     string    `json:"last_turn,omitempty"`
	Available *string   `json:"available"`      // the thread that could be used; null if there was none
	Used      string    `json:"used,omitempty"` // the thread that was handed on, or "new"; "" if that is not known
	Why       string    `json:"why,omitempty"`  // why that one
	Repaired  bool      `json:"repaired,omitempty"`
	Run       string    `json:"run,omitempty"`    // the repair's run id, for hist undo
	Digest    string    `json:"sha256,omitempty"` // hash of the session before the repair
	Ran       []string  `json:"ran,omitempty"`    // what was run: the program and its subcommand, and only the lengths of the other arguments
	Exit      *int      `json:"exit,omitempty"`   // its exit code, once it has ended
	Millis    int64     `json:"ms"`               // how long the answer took, in milliseconds
}

// New stands in Decision.Used for a new thread.
const New = "new"

// Path returns the path of the log: decisions.jsonl in hist's state directory.
func Path() (string, error) {
	dir, err := disk.StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "decisions.jsonl"), nil
}

// Append adds a line to the log, in one write, so that the lines of processes that log at the same time don't mix. If the
// last line is incomplete, it begins a new one.
func Append(d Decision) error {
	path, err := Path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("creating the directory of the log of decisions: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("writing the log of decisions: %w", err)
	}
	var line bytes.Buffer
	torn, err := endsTorn(f)
	if torn {
		line.WriteByte('\n')
	}
	if err == nil {
		err = escape.Line(&line, d)
	}
	if err == nil {
		_, err = f.Write(line.Bytes())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the log of decisions: %w", err)
	}
	return nil
}

// endsTorn says whether the last line of a file lacks its newline.
func endsTorn(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n', err
}

// Read returns all decisions, the oldest first; none if there is no log. A line that is not a decision, such as one that a
// crash cut off, is skipped. If several lines have the same id, the last one counts.
func Read() ([]Decision, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	text, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log of decisions: %w", err)
	}
	var all []Decision
	at := map[string]int{}
	for line := range bytes.Lines(text) {
		var d Decision
		if json.Unmarshal(line, &d) != nil {
			continue
		}
		if i, ok := at[d.ID]; ok {
			all[i] = d
			continue
		}
		at[d.ID] = len(all)
		all = append(all, d)
	}
	return all, nil
}

// Tried returns the run of an earlier repair that pre-resume made of the session with this SHA-256, "" if there is none.
func Tried(digest string) (run string, err error) {
	all, err := Read()
	if err != nil {
		return "", err
	}
	for _, d := range all {
		if d.Digest == digest && d.Repaired {
			return d.Run, nil
		}
	}
	return "", nil
}
