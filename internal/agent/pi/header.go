package pi

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// remains is what a line that can't be read says of itself.
type remains struct {
	at     session.Pos
	before int // how many records stand in front of it
	id, up string
	header []byte // how it begins, if it was a header
	ends   bool   // it ends as a message does
	null   bool   // it says null; value: it is JSON, but no object
	value  bool
}

// remainsOf reads what a dead line says: clients write type, id and parent first.
func remainsOf(rec *session.Record, before int) remains {
	r := remains{at: rec.Pos, before: before}
	head := rec.Raw[:min(len(rec.Raw), 1<<10)]
	if m := begun.FindSubmatch(head); m != nil {
		r.id, r.up = string(m[1]), string(m[2])
	} else if bytes.Contains(head, []byte(`"type":"session"`)) {
		r.header = bytes.Clone(head)
	}
	whole := bytes.TrimSpace(rec.Raw)
	r.ends = ended.Match(whole[max(0, len(whole)-80):])
	r.null = string(whole) == "null"
	r.value = !r.null && jsonl.Valid(whole)
	return r
}

var begun = regexp.MustCompile(`^\x00*\{"type":"[a-z_]+","id":"([0-9a-f]{8})","parentId":(?:"([0-9a-f]{8})"|null)`)

// ended is how a message ends.
var ended = regexp.MustCompile(`"(?:timestamp|durationMs|thinkingLevel|responseId|rawStopReason|stopReason|isError)":[^{}]*}}$`)

// header finds what keeps the client from opening the file, and what it would do to it.
func (c *checker) header() (list []*found) {
	at := c.headerAt()
	if at < 0 {
		f := c.find(0, ruleLostHeader, finding.StandIn, "no line says whose session this is: the client does not find it by its id, refuses it by its path (before 0.80.3 it overwrites it), and --continue begins a new session without a word")
		line, source := c.newHeader()
		f.Gap = c.facts[0].id == "" // records without ids, of version 1, do not say what stood in front of them
		f.Source, f.changes = source, []change{{add: added(line, inFront)}}
		return []*found{f}
	}
	add := func(rule *finding.Rule, fix finding.Fix, message string) *found {
		f := c.find(at, rule, fix, "%s", message)
		list = append(list, f)
		return f
	}
	h := &c.facts[at]
	if at > 0 {
		add(ruleLateHeader, finding.Exact, "the header is not the first record: the client does not see it, and refuses the file").changes = []change{{at: at, place: toBegin}}
	}
	if h.id == "" {
		id, fix := c.threadID()
		add(ruleWrongHeader, fix, "the header has no id: the client does not open the file, and looking up other sessions of its folder by id ends with an error").set(at, func(r *fact) { r.id = id })
	}
	for k, flaw := range h.flaws {
		add(flaw.rule, flaw.fix, flaw.message).set(at, mended(k), flaw.cuts...)
	}
	if c.old = h.old && !c.linked(); h.old && !c.old {
		f := add(ruleLostVersion, finding.Exact, "the header does not say which version it is of: at the next resume the client rewrites the file, gives every record another id and lays all branches in one line; nothing brings that back")
		f.Impact = finding.Loses
		f.set(at, func(r *fact) { r.old = false }, h.spare.to([]byte("3")))
	}
	return list
}

// mended takes a flaw from a record.
func mended(k int) func(*fact) {
	return func(r *fact) {
		r.flaws = slices.Clone(r.flaws)
		r.flaws[k].harm = harmless
	}
}

// threadID is the id that the file's name gives a session, else one that stands in.
func (c *checker) threadID() (id string, fix finding.Fix) {
	if id := readName(c.run.Options().Name.Base).ThreadID; id != "" {
		return id, finding.Exact
	}
	return "hist-" + freshID(map[string]int{}, c.facts[0].id, c.facts[0].when), finding.StandIn
}

// newHeader is a header by what else is known of a session.
func (c *checker) newHeader() (line []byte, source string) {
	id, fix := c.threadID()
	when, cwd, source := c.facts[0].time(), "", "the first records"
	if fix == finding.Exact {
		source = "the file's name"
	}
	for _, d := range c.dead {
		for key, to := range map[string]*string{"id": &id, "timestamp": &when, "cwd": &cwd} {
			if m := regexp.MustCompile(`"` + key + `":"([^"\\]+)"`).FindSubmatch(d.header); m != nil {
				*to, source = string(m[1]), "what is left of its line"
			}
		}
	}
	if at := slices.IndexFunc(c.facts, func(f fact) bool { return f.role == "system" && f.target != "" }); cwd == "" && at >= 0 {
		cwd, source = c.facts[at].target, source+" and the client's message about the directory"
	}
	if cwd == "" {
		if cwd = c.beside.cwd(); cwd != "" {
			source += " and another session of its folder"
		}
	}
	line = fmt.Appendf(nil, `{"type":"session","version":3,"id":%s,"timestamp":%s`, quote(id), quote(when))
	if cwd != "" {
		line = fmt.Appendf(line, `,"cwd":%s`, quote(cwd))
	}
	return append(line, '}'), source
}
