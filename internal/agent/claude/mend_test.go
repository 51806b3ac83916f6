package claude

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// lintBytes lints a session.
func lintBytes(t testing.TB, data []byte, opts Options) []finding.Finding {
	t.Helper()
	var found []finding.Finding
	n := normalize.New(bytes.NewReader(data), normalize.Options{Decoder: Decoder{}, Mend: allowed, Live: opts.Live})
	defer n.Close()
	c := New(opts, func(f finding.Finding) { found = append(found, f) })
	c.Amend = func(line int64, change func(*finding.Finding)) {
		for i := range found {
			if found[i].Framing && found[i].Pos.Line == line {
				change(&found[i])
				return
			}
		}
	}
	for {
		rec, err := n.Next()
		found = append(found, n.Faults()...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Record(rec)
	}
	c.End()
	return found
}

func allowed(f *finding.Finding) bool { return f.Impact != finding.Notes && f.Fix != finding.NoFix }

// mend makes all edits of the findings that are more than notes.
func mend(t testing.TB, data []byte, found []finding.Finding) []byte {
	t.Helper()
	type at struct {
		before, after [][]byte
		cuts          []finding.Cut
		gone          bool
	}
	edits := map[session.Pos]*at{}
	touched := false
	newline := false
	for i := range found {
		f := &found[i]
		if !allowed(f) {
			continue
		}
		touched = touched || f.Framing
		newline = newline || f.Rule.Name == "no-final-newline"
		for _, e := range f.Edits {
			touched = true
			a := edits[e.At]
			if a == nil {
				a = &at{}
				edits[e.At] = a
			}
			switch e.Op {
			case finding.Splice:
				a.cuts = append(a.cuts, e.Cuts...)
			case finding.Remove:
				a.gone = true
			case finding.Before:
				a.before = append(a.before, e.New.Literal)
			case finding.After:
				a.after = append(a.after, e.New.Literal)
			}
		}
	}
	if !touched {
		return data
	}
	n := normalize.New(bytes.NewReader(data), normalize.Options{Decoder: Decoder{}, Mend: allowed})
	defer n.Close()
	var out bytes.Buffer
	line := func(raw []byte) {
		if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
			out.WriteByte('\n')
		}
		out.Write(raw)
		out.WriteByte('\n')
	}
	open := false
	for {
		rec, err := n.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		a := edits[rec.Pos]
		if a == nil {
			a = &at{}
		}
		for _, l := range a.before {
			line(l)
		}
		if !a.gone && !rec.Drop {
			raw, err := session.Apply(rec.Raw, a.cuts)
			if err != nil {
				t.Fatalf("%v: %v", rec.Pos, err)
			}
			line(raw)
			open = rec.Open
		}
		for _, l := range a.after {
			line(l)
			open = false
		}
	}
	b := out.Bytes()
	if open && !newline && len(edits) == 0 {
		b = bytes.TrimSuffix(b, []byte("\n"))
	}
	return b
}
