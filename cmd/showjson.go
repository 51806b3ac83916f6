package cmd

import (
	"bufio"
	"bytes"
	"time"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
)

// jsonTimeline writes one object per entry, or one for the whole session.
type jsonTimeline struct {
	w       *bufio.Writer
	whole   bool
	entries int
	next    []string
}

// jsonEntry is the documented form of an entry.
type jsonEntry struct {
	Kind    string  `json:"kind"`
	Line    int64   `json:"line"`
	Offset  int64   `json:"offset"`
	Time    string  `json:"time,omitempty"`
	Turn    int     `json:"turn,omitempty"`
	Chars   int     `json:"chars,omitempty"`
	Images  int     `json:"images,omitempty"`
	Tool    string  `json:"tool,omitempty"`
	CallID  string  `json:"call_id,omitempty"`
	Within  string  `json:"within,omitempty"`
	Outcome string  `json:"outcome,omitempty"`
	Exit    string  `json:"exit_code,omitempty"`
	State   string  `json:"state,omitempty"`
	Unsent  bool    `json:"unsent,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Count   int     `json:"count,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	Impact  string  `json:"impact,omitempty"`
	Message string  `json:"message,omitempty"`
	CWD     string  `json:"cwd,omitempty"`
	Model   string  `json:"model,omitempty"`
	Text    string  `json:"text,omitempty"`
	Asked   string  `json:"asked,omitempty"`
	Got     string  `json:"got,omitempty"`
}

func (p *jsonTimeline) begin(s *shown) error {
	if !p.whole {
		return nil
	}
	p.next, _ = s.next()
	p.entries = 0
	var head bytes.Buffer
	err := format.Write(&head, struct {
		Schema string `json:"schema"`
		Agent  string `json:"agent"`
		Thread string `json:"thread_id"`
		Path   string `json:"path"`
	}{"hist.show/1", s.summary.Agent, s.summary.Header.ID, s.path})
	p.w.Write(bytes.TrimSuffix(head.Bytes(), []byte("}\n"))) //nolint:errcheck // Flush returns it
	p.w.WriteString(`,"entries":[`)                          //nolint:errcheck // as above
	return err
}

func (p *jsonTimeline) end() error {
	if p.whole {
		p.w.WriteString(`],"next":`) //nolint:errcheck // Flush returns it
		if err := format.Write(p.w, append([]string{}, p.next...)); err != nil {
			return err
		}
		p.w.WriteString("}\n") //nolint:errcheck // as above
	}
	return p.w.Flush()
}

func (p *jsonTimeline) entry(e *timeline.Entry) error {
	j := jsonEntry{
		Kind: e.Kind.String(), Line: e.Pos.Line, Offset: e.Offset, Turn: e.Turn, Unsent: e.Unsent, Chars: e.Chars, Images: e.Images, Tool: e.Tool, CallID: e.CallID, Within: e.Within,
		Detail: e.Detail, Count: e.Calls, Seconds: e.Took.Seconds(), CWD: e.CWD, Model: e.Model, Text: e.Text, Asked: e.Asked, Got: e.Got,
	}
	if !e.Time.IsZero() {
		j.Time = e.Time.Format(time.RFC3339Nano)
	}
	switch e.Kind {
	case timeline.Call:
		j.Outcome, j.Exit, j.Seconds = e.Outcome.State.String(), e.Outcome.Exit, e.Outcome.Took.Seconds()
		if !e.Answered && e.Outcome.State != session.Running {
			j.Outcome = "no output"
		}
	case timeline.TurnEnd:
		j.State = string(e.State)
	case timeline.Finding:
		j.Rule, j.Impact, j.Message = e.Finding.Rule.Name, e.Finding.Impact.String(), e.Finding.Message
	}
	if p.entries++; p.whole && p.entries > 1 {
		p.w.WriteByte(',') //nolint:errcheck // Flush returns it
	}
	return format.Write(p.w, j)
}
