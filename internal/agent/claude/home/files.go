package home

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
)

// Holds says whether a line is the record with an id, or an output of the call with it.
func Holds(line []byte, id string) bool {
	found := gjson.GetBytes(line, "uuid").String() == id
	gjson.GetBytes(line, "message.content").ForEach(func(_, b gjson.Result) bool {
		found = found || b.Get("tool_use_id").String() == id
		return !found
	})
	return found
}

// EachLine calls see for the lines at the beginning of a file, until see returns false. record, if called, says whether the
// line is a record. A file that can't be read has no lines.
func EachLine(path string, see func(l jsonl.Line, record func() bool) bool) {
	file, err := disk.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		LinesOf(io.NewSectionReader(file, 0, min(info.Size(), agent.MaxSibling)), see)
	}
}

// LinesOf is EachLine for a text that is open already.
func LinesOf(r io.Reader, see func(l jsonl.Line, record func() bool) bool) {
	scanner := jsonl.NewScanner(format.Shape)
	defer scanner.Done()
	spans := make([]jsonl.Span, format.FieldCount)
	in := jsonl.NewReader(r)
	for {
		l, err := in.Next()
		if err != nil {
			return
		}
		record := func() bool {
			v := scanner.Scan(l.Raw, spans)
			return v.Fault == jsonl.None && v.Object
		}
		if !see(l, record) {
			return
		}
	}
}

// findLine returns the first line of a file that contains some bytes and is a record that fits; nil if there is none.
func findLine(path string, words []byte, fits func([]byte) bool) (found []byte) {
	EachLine(path, func(l jsonl.Line, record func() bool) bool {
		if bytes.Contains(l.Raw, words) && record() && fits(l.Raw) {
			found = bytes.Clone(l.Raw)
		}
		return found == nil
	})
	return found
}

var errLarge = errors.New("too large")

// ReadSmall reads a file of the client's that is never large.
func ReadSmall(path string) ([]byte, error) {
	if err := disk.Check(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > 1<<20 {
		return nil, fmt.Errorf("%s: %w", path, errLarge)
	}
	return os.ReadFile(path)
}

// within are the sessions of folders.
var within = disk.Recall[[]string]{Limit: 1 << 17}

// SessionsIn are the files of sessions in a folder. They are shared: they must not be changed.
func SessionsIn(dir string) []string {
	return within.Of(dir, func() (list []string, size int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, 0
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), format.Extension) && !strings.HasPrefix(e.Name(), "agent-") {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
		return list, len(list)
	})
}
