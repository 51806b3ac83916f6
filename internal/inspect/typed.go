package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// typedSlack is how much later than its record a prompt may seem to have been typed.
const typedSlack = 5 * time.Second

// typedLater notes that prompts were typed in a session after its last record. That is no damage for sure: the file may be an older copy,
// and a prompt may have been typed and taken back. But where the end of a file is gone, nothing else tells.
func typedLater(ctx context.Context, src *source.Source, home *Home, dir string, res *lint.Result, look func(ctx context.Context, path string) (*timeline.Glance, error)) []lint.Finding {
	a := all.Named(res.Summary.Agent)
	if a == nil || a.Home == nil || a.Prompts == nil || a.Part != nil && a.Part(src.Real) {
		return nil
	}
	id := cmp.Or(lint.NameOf(src.Real, true).ThreadID, res.Summary.Header.ID)
	typed := slices.DeleteFunc(slices.Clone(a.Prompts(dir)[id]), func(p agent.Prompt) bool { return !isPrompt(p.Words) })
	if len(typed) == 0 || !endsBefore(ctx, src, slices.MaxFunc(typed, func(a, b agent.Prompt) int { return a.When.Compare(b.When) }).When) || slices.ContainsFunc(res.Findings, func(f lint.Finding) bool { return f.Rule == a.Ended && f.Fix == lint.Recovered }) {
		return nil
	}
	if home.Superseded(src.Real) {
		return nil // it went on in another file
	}
	g, err := look(ctx, src.Real)
	if err != nil || g.Turn.Last.IsZero() {
		return nil // why it can't be read is reported when it is linted
	}
	n, first := 0, time.Time{}
	for _, p := range typed {
		if p.When.After(g.Turn.Last.Add(typedSlack)) {
			if n++; n == 1 {
				first = p.When
			}
		}
	}
	if n == 0 {
		return nil
	}
	what := "a prompt was typed in this session"
	if n > 1 {
		what = fmt.Sprintf("%d prompts were typed in this session, the first", n)
	}
	return []lint.Finding{{Rule: a.Ended, Impact: lint.Notes, Fix: lint.NoFix, Message: fmt.Sprintf(
		"%s at %s, but the last record is of %s: the end of this file is lost, or it is an older copy, or what was typed was never sent; the client's list of prompts has the words",
		what, first.UTC().Format(time.RFC3339), g.Turn.Last.UTC().Format(time.RFC3339))}}
}

// endOfFile is how many bytes from the end of a file are looked at for the time of its last record.
const endOfFile = 4 << 10

// endsBefore says whether the records at the end of a session may all have been written before a moment. That spares most sessions a closer
// look.
func endsBefore(ctx context.Context, src *source.Source, at time.Time) bool {
	in, err := src.Reader(ctx)
	if err != nil {
		return true
	}
	defer in.Close()
	text, plain := in.(io.ReaderAt)
	if !plain {
		return true
	}
	from := max(0, src.Size()-endOfFile)
	end := make([]byte, src.Size()-from)
	if _, err := text.ReadAt(end, from); err != nil && !errors.Is(err, io.EOF) {
		return true
	}
	const key = `"timestamp":"`
	_, value, _ := bytes.Cut(end[max(0, bytes.LastIndex(end, []byte(key))):], []byte(key))
	value, _, _ = bytes.Cut(value, []byte{'"'})
	last, err := time.Parse(time.RFC3339, string(value))
	return err != nil || at.After(last.Add(typedSlack))
}

// isPrompt says whether typed words were meant for the model, and are no command to the client or to a shell.
func isPrompt(words string) bool {
	words = strings.TrimSpace(words)
	return words != "" && !strings.ContainsAny(words[:1], "/!#") && words != "exit" && words != "quit"
}
