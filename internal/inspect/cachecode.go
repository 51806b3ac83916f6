package inspect

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

var errCode = errors.New("not an encoded result")

// coder writes values to b, or reads them from it. The same methods do both, so that what is written and what is read are
// always the same. decoder returns a coder that reads.
type coder struct {
	b       []byte
	read    string // all of the input, of which b is the part that is not read yet; the decoded texts are slices of it
	reading bool
	bad     bool // what was read is not valid
}

func decoder(text []byte) *coder { return &coder{b: text, read: string(text), reading: true} }

func (c *coder) num(n *int64) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, *n)
		return
	}
	v, size := binary.Varint(c.b)
	if size <= 0 {
		c.bad, c.b, size = true, nil, 0
	}
	*n, c.b = v, c.b[size:]
}

func (c *coder) text(s *string) {
	n := int64(len(*s))
	c.num(&n)
	if !c.reading {
		c.b = append(c.b, *s...)
		return
	}
	if n < 0 || n > int64(len(c.b)) {
		c.bad, c.b, n = true, nil, 0
	}
	at := len(c.read) - len(c.b)
	*s, c.b = c.read[at:at+int(n)], c.b[n:]
}

func (c *coder) flag(f *bool) {
	n := int64(0)
	if *f {
		n = 1
	}
	c.num(&n)
	*f = n == 1
}

func (c *coder) integer(n *int) {
	v := int64(*n)
	c.num(&v)
	*n = int(v)
}

// byteOf codes an integer of one byte.
func byteOf[T ~uint8](c *coder, v *T) {
	n := int64(*v)
	c.num(&n)
	if n < 0 || n > math.MaxUint8 {
		c.bad = true
	}
	*v = T(n)
}

func (c *coder) place(n *int32) {
	v := int64(*n)
	c.num(&v)
	if *n = int32(v); int64(*n) != v {
		c.bad = true
	}
}

func (c *coder) pos(p *session.Pos) {
	c.num(&p.Line)
	c.place(&p.Part)
	c.place(&p.Lost)
}

// result codes a result, except for its edits, which a lint does not show.
func (c *coder) result(r *lint.Result) {
	s := &r.Summary
	for _, n := range []*int64{&s.Bytes, &s.Records, &s.Seen, &s.Items, &s.Lost} {
		c.num(n)
	}
	c.text(&s.Agent)
	c.info(&s.Header)
	byteOf(c, &s.Encoding)
	c.flag(&s.TooLong)
	c.findings(&r.Findings)
}

func (c *coder) findings(list *[]lint.Finding) {
	count := len(*list)
	c.integer(&count)
	if c.reading {
		if count < 0 || count > len(c.b) {
			c.bad, count = true, 0
		}
		if count > 0 {
			*list = make([]lint.Finding, count)
		}
	}
	for i := range *list {
		c.finding(&(*list)[i])
	}
}

func (c *coder) info(h *session.Info) {
	for _, n := range []*int64{&h.BaseOrdinal, &h.BaseOffset, &h.SubagentStart} {
		c.num(n)
	}
	for _, t := range []*string{&h.ID, &h.SessionID, &h.CWD, &h.Version, &h.Provider, &h.Source, &h.Commit, &h.Branch, &h.Repository, &h.Mode, &h.ForkedFrom, &h.BaseThread, &h.ResumedBy, &h.NotResumed} {
		c.text(t)
	}
}

func (c *coder) finding(f *lint.Finding) {
	name := ""
	if !c.reading {
		name = f.Rule.Name
	}
	c.text(&name)
	if c.reading {
		if f.Rule = lint.FindRule(name); f.Rule == nil {
			c.bad = true
		}
	}
	byteOf(c, &f.Impact)
	byteOf(c, &f.Fix)
	c.pos(&f.Pos)
	c.pos(&f.On.Pos)
	for _, n := range []*int64{&f.Offset, &f.Count, &f.Through, &f.On.Offset, &f.On.Size, &f.Lost, &f.Unseen} {
		c.num(n)
	}
	for _, t := range []*string{&f.Record, &f.Message, &f.Source, &f.Why, &f.IDs, &f.Rename, &f.Beside, &f.Option} {
		c.text(t)
	}
	for _, b := range []*bool{&f.More, &f.Reproject, &f.Hole, &f.Framing, &f.First, &f.Gap, &f.Void} {
		c.flag(b)
	}
}

// time codes a time to the nanosecond; its time zone is lost.
func (c *coder) time(t *time.Time) {
	zero := t.IsZero()
	c.flag(&zero)
	if zero {
		*t = time.Time{}
		return
	}
	seconds, nanos := t.Unix(), int64(t.Nanosecond())
	c.num(&seconds)
	c.num(&nanos)
	if c.reading {
		*t = time.Unix(seconds, nanos)
	}
}

// glance codes the fields that timeline.Lost compares.
func (c *coder) glance(s *timeline.Glance) {
	name := ""
	if s.Agent != nil {
		name = s.Agent.Name
	}
	state := string(s.Turn.State)
	for _, t := range []*string{&name, &s.Thread, &s.CWD, &state, &s.Turn.Prompt.Text} {
		c.text(t)
	}
	c.info(&s.Header)
	c.time(&s.Created)
	c.time(&s.Turn.Last)
	if c.reading {
		s.Turn.State = timeline.TurnState(state)
		if s.Agent = all.Named(name); s.Agent == nil {
			c.bad = true
		}
	}
}

func encode(r *lint.Result) []byte {
	var c coder
	c.result(r)
	return c.b
}

func decode(text []byte) (*lint.Result, error) {
	c := decoder(text)
	var r lint.Result
	c.result(&r)
	if c.bad || len(c.b) > 0 {
		return nil, errCode
	}
	return &r, nil
}
