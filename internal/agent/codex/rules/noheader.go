package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// known collects what the session shows of a header's members.
func (c *headerChecker) known() codex.Known {
	name := c.run.opts.Name
	k := codex.Known{ID: name.ThreadID, Timestamp: c.stamp, CWD: c.cwd, Provider: c.provider, Paginated: c.ordinals, Client: c.run.client}
	if k.ID == "" {
		k.ID = c.busiestID()
	}
	if sibling := c.run.opts.SiblingVersion; sibling != nil && c.run.header.Version == "" {
		k.Version = sibling()
	}
	if k.Timestamp == "" {
		if t, err := time.ParseInLocation("2006-01-02T15-04-05", name.Time, time.Local); err == nil {
			k.Timestamp = t.UTC().Format(codex.TimeForm)
		} else {
			k.Timestamp = "1970-01-01T00:00:00.000Z"
		}
	}
	return k
}

func (c *headerChecker) busiestID() string {
	best := ""
	for id := range c.ids {
		if _, err := uuid.Parse(id); err != nil {
			continue
		}
		if n := c.named(id); n > c.named(best) || n == c.named(best) && id < best {
			best = id
		}
	}
	return best
}

// named is how many records name a thread.
func (c *headerChecker) named(id string) int64 {
	if n := c.ids[id]; n != nil {
		return *n
	}
	return 0
}

// missing reports a session without a header and rebuilds one.
func (c *headerChecker) missing() {
	f := ruleNoHeader.At(finding.Ref{Pos: firstPlace}, "", "the header can't be read: the client does not know whose session this is")
	k := c.known()
	if c.torn != nil {
		k = fromTorn(k, c.torn)
		f.Source = "what can be read of the torn header, "
	}
	listed, header := c.listed(&k)
	middle := header == nil && k.Base == nil && c.continued() && !c.begins
	if middle && (k.ID == "" || c.torn != nil || !strings.EqualFold(c.run.opts.Name.FileID, c.run.opts.Name.ThreadID)) { // after a revert, a file that goes on has two ids in its name
		f.Fix = finding.NoFix
		c.run.header.ID, c.run.header.Mode = k.ID, "paginated"
		c.run.SetHeader(c.run.header, session.Pos{})
		c.instead = func(f *finding.Finding) bool { return f.Framing && f.Pos.Line == c.tornAt } // a header that is cut still tells more than none
		f.Source = ""
		which := "nothing says which"
		if parent := codex.ReadHeader(c.torn).ForkedFrom; parent != "" {
			which = fmt.Sprintf("nothing says where it left that of %s", parent)
		}
		if c.anyRecord || c.restored {
			f.Message += fmt.Sprintf("; its records begin at ordinal %d: it goes on from another file, or has lost its beginning, and %s", c.lowest, which)
		} else {
			c.nothingRead(&f, "by its torn header it continued the file of another thread, and "+which)
		}
		c.run.Report(f)
		return
	}
	if k.ID == "" {
		k.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(c.stamp+c.cwd)).String()
	}
	f.Source += "the file's name and its records"
	switch {
	case header != nil:
		f.Source, f.Fix = listed, finding.Recovered
	case k.Base != nil:
		f.Source, f.Fix = listed+", the session that it was forked from, "+f.Source, finding.Recovered
	case listed != "":
		f.Source, f.Fix = listed+", "+f.Source, finding.Recovered
	}
	if header == nil {
		header = codex.NewHeader(k)
	}
	c.run.setHeader(codex.ReadHeader(header), session.Pos{})
	if c.anyRecord || c.restored {
		f.Edits = []finding.Edit{{At: firstPlace, Op: finding.Before, Lead: true, New: finding.Content{Literal: header}}}
	} else {
		c.nothingRead(&f, "it is not a session, or all of it is destroyed")
	}
	f.Gap = f.Fix == finding.StandIn && (!c.ordinals || c.continued()) // without numbers, nothing says that the header alone is missing
	if middle && f.Edits != nil {                                      // that it is lost, the gap between the header's number and the next tells the model
		f.Message += fmt.Sprintf("; its records begin at ordinal %d: what came before is lost, or stands in a thread that this one went on from", c.lowest)
	}
	c.run.Report(f)
}

// nothingRead makes one finding of a file without a record, and says what the file is. Otherwise each line would be a finding,
// and a repair would have nothing to leave in their place.
func (c *headerChecker) nothingRead(f *finding.Finding, what string) {
	c.instead = func(f *finding.Finding) bool { return f.Framing }
	f.Fix, f.Source = finding.NoFix, ""
	f.Message = "nothing in this file can be read as a record: " + what
}

// destroyed rebuilds the header of a session of whose file nothing can be read. That is done if its home still keeps what was
// said in it, or if it is a fork that inherits from its parent; another file of the session, or the client's list of threads,
// then says which session it is. Until something is known to be restorable, it only reports that, so that the rest can be
// looked for.
func (c *headerChecker) destroyed() bool {
	k := c.known()
	if c.torn != nil {
		k = fromTorn(k, c.torn)
	}
	from, header := c.listed(&k)
	if from == "" {
		return false
	}
	if header == nil {
		header = codex.NewHeader(k)
	}
	c.run.setHeader(codex.ReadHeader(header), session.Pos{})
	if !c.restored && k.Base == nil {
		return false
	}
	f := ruleNoHeader.At(finding.Ref{Pos: firstPlace}, "", "nothing in this file can be read as a record: the client does not know whose session this is")
	f.Fix, f.Source = finding.Recovered, from
	c.run.Report(f.With(finding.Edit{At: firstPlace, Op: finding.Before, Lead: true, New: finding.Content{Literal: header}}))
	return true
}

// listed takes what another file of the session, or the client's list of threads, says about it, and returns the name of that
// source; "" if there is none, or if it disagrees with the records: it names another file or other numbers, or begins after the
// first record. header is the session's own, if the other file holds it.
func (c *headerChecker) listed(k *codex.Known) (name string, header []byte) {
	read := c.run.opts.Listed
	if read == nil || k.ID == "" {
		return "", nil
	}
	l := read("codex", c.run.opts.Home, k.ID)
	if l == nil || l.Base != c.run.opts.Name.Base || l.Created.IsZero() {
		return "", nil
	}
	if c.run.Records() == 0 { // there are no records to disagree with
		k.Paginated = l.Paginated()
	} else if !c.agrees(l, k) {
		return "", nil
	}
	if l.Header != nil {
		if l.Paginated() != k.Paginated {
			return "", nil
		}
		return l.From, l.Header
	}
	k.Timestamp, k.CWD = l.Created.UTC().Format(codex.TimeForm), cmp.Or(k.CWD, l.CWD)
	k.Version, k.Provider = cmp.Or(l.Version, k.Version), cmp.Or(l.Provider, k.Provider)
	k.Originator, k.Source = l.Originator, l.Source
	if l.BaseThread != "" && (l.BaseOrdinal < c.lowest || c.run.Records() == 0) {
		k.Base = &codex.Base{Thread: l.BaseThread, Ordinal: l.BaseOrdinal, Offset: l.BaseOffset}
	}
	return l.From, nil
}

// agrees says whether the records may belong to the session that is listed.
func (c *headerChecker) agrees(l *check.Listed, k *codex.Known) bool {
	first, err := time.Parse(time.RFC3339, c.stamp)
	return (l.Mode == "" || l.Paginated() == k.Paginated) && err == nil && !l.Created.After(first.Add(listedSlack))
}

// listedSlack is how much later than the first record the list's time may be: older clients keep whole seconds.
const listedSlack = 2 * time.Second

// continued says whether the session without a header began in the middle of a thread: a torn header says so, or has a number
// other than the first; or there is none, and lost lines do not account for the first ordinal. If no conversation fits in front
// of the records, it did not.
func (c *headerChecker) continued() bool {
	if c.torn != nil {
		return bytes.Contains(c.torn, []byte("history_base")) || gjson.GetBytes(c.torn, "ordinal").Int() > 0
	}
	return c.ordinals && c.lowest > max(1+c.dead, codex.FirstPrompt)
}

// fromTorn takes what can still be read of a torn header.
func fromTorn(k codex.Known, torn []byte) codex.Known {
	h := codex.ReadHeader(torn)
	if _, err := uuid.Parse(h.ID); err == nil && k.ID == "" {
		k.ID = h.ID
	}
	set := func(to *string, from string) {
		if from != "" && !strings.ContainsRune(from, '\ufffd') {
			*to = from
		}
	}
	set(&k.CWD, h.CWD)
	set(&k.Version, h.Version)
	set(&k.Provider, h.Provider)
	return k
}
