package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/lint"
)

// filesFrom adds to the operands what --files-from names.
func (l *lintRun) filesFrom(operands []string) ([]string, error) {
	if !l.c.IsSet("files-from") {
		return operands, nil
	}
	path := l.c.String("files-from")
	if path == "-" && slices.Contains(operands, "-") {
		return nil, usage("standard input is either a session or the list of --files-from")
	}
	named, err := linesOf(l.c.Context, l.env.fileOrInput(l.c.Context, path))
	if err != nil {
		return nil, fmt.Errorf("--files-from %s: %w", path, disk.Cause(err))
	}
	if len(named)+len(operands) == 0 {
		return nil, fmt.Errorf("--files-from %s: it names no session", path)
	}
	return append(operands, named...), nil
}

// maxPath is how long a line of --files-from may be, in bytes.
const maxPath = 64 << 10

// linesOf are the lines of a list that are not empty.
func linesOf(ctx context.Context, in io.Reader) (list []string, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxPath)
	number := 1
	for ; lines.Scan(); number++ {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case bytes.IndexByte(line, 0) >= 0:
			return nil, fmt.Errorf("line %d holds a NUL byte; name one path a line", number)
		case string(line) == "-":
			return nil, fmt.Errorf("line %d is -: name files, directories or ids", number)
		case len(line) > 0:
			list = append(list, string(line))
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", number, maxPath)
	}
	return list, lines.Err()
}

// rowOf is one session in numbers.
func rowOf(r *linted) *format.Row {
	row := &format.Row{Path: r.target.path, Outcome: format.Linted, HistVersion: Version()}
	if r.src != nil && r.src.Info != nil {
		row.StoredBytes = r.src.Info.Size()
		row.Started = lint.NameOf(r.src.Name, false).Time
	}
	if r.err != nil {
		row.Outcome, row.Error = format.Unreadable, r.err.Error()
		if errors.Is(r.err, agent.ErrUnclaimed) {
			row.Outcome = format.Unclaimed
		}
	}
	if r.result == nil {
		return row
	}
	s := &r.result.Summary
	row.Agent, row.ThreadID, row.ClientVersion = s.Agent, s.Header.ID, s.Header.Version
	row.Bytes, row.Records, row.Items, row.ItemsSeen = s.Bytes, s.Records, s.Items+s.Lost, s.Seen
	row.Findings = int64(len(r.result.Findings))
	worst := lint.Notes
	for i := range r.result.Findings {
		if f := &r.result.Findings[i]; row.Worst == "" || f.Impact.AtLeast(worst) {
			worst, row.Worst = f.Impact, f.Impact.String()
		}
	}
	return row
}
