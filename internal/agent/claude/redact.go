package claude

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Redact takes out thinking with a secret in it, which must not be altered, thinking that nobody can read, and thinking that is bound to
// what was changed; and the records of requests, whose hashes would let a short secret be guessed.
func (sur Surgeon) Redact(s *surgery.Session, r *surgery.Redaction, opts surgery.RedactOptions) error {
	t := newTree(s)
	requests := r.Group("requests", "the client's record of a request: its hashes would let a secret be guessed")
	g := r.Group("thinking", "thinking that holds a secret, that nobody can read, or that is bound to what was changed before it: it can't be altered")
	first := r.First()
	for i := range s.Records {
		rec := &s.Records[i]
		n := t.by[rec]
		switch {
		case rec.Kind == session.Unreadable:
		case n == nil && strings.HasPrefix(typeOf(rec), "api-request"):
			requests.Drop(rec)
		case n != nil && thinks(n) && (r.Thinking[rec] || unreadable(n) || surgery.Bound(rec, first)):
			t.dropThinking(g, n)
		}
	}
	if !g.Empty() {
		r.Notes = append(r.Notes, "thinking was taken out: "+g.Why)
	}
	return nil
}

// unreadable says whether a record holds thinking that only the provider can read.
func unreadable(n *node) bool {
	return n.holds(func(b gjson.Result) bool { return b.Get("type").String() == "redacted_thinking" })
}
