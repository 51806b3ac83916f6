package surgery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// Relation is how what is sent of the result relates to what is sent of the session.
type Relation uint8

// The relations.
const (
	Same    Relation = iota // the same items in the same order
	Prefix                  // the first of them; what the client adds at the end itself does not count
	Marked                  // as many, and each that differs says so
	Renamed                 // as many, of which some name another directory
	Holds                   // all of them, in their order, and perhaps others
	Anew                    // the session had sent something else at that point, so there is nothing to compare with
)

// Mark begins every text that hist puts in the place of another one.
const Mark = "[hist: "

// Print is what two readings showed.
type Print struct {
	Items   int    `json:"items"`                      // that are sent of the result
	Bytes   int64  `json:"bytes"`                      // of these items, as the session holds them
	Prompts int    `json:"prompts"`                    // of a person, among them
	SHA256  string `json:"sha256"`                     // over all of them
	Before  int    `json:"items_before"`               // that are sent of the session
	Held    int64  `json:"bytes_before"`               // of those
	Asked   int    `json:"prompts_before"`             // among those
	Was     string `json:"sha256_before"`              // over all of those
	Differs int    `json:"items_that_differ"`          // of those that both send, how many say something else
	Renamed bool   `json:"renamed,omitempty"`          // these name another directory, and differ in nothing else
	Anew    bool   `json:"anew,omitempty"`             // what the session sends now is not what is sent of the result
	First   string `json:"first_difference,omitempty"` // where the first of them stands
}

// Identical says that the same is sent.
func (p *Print) Identical() bool { return p.SHA256 == p.Was && p.Items == p.Before }

// Words say it in a line.
func (p *Print) Words() string {
	switch {
	case p.Identical():
		return fmt.Sprintf("history: identical (sha256 %s, %s)", p.SHA256[:12], count(p.Items, "item"))
	case p.Items <= p.Before && p.Differs == 0:
		return fmt.Sprintf("history: the first %d of %s (sha256 %s)", p.Items, count(p.Before, "item"), p.SHA256[:12])
	case p.Anew && p.Items == p.Before:
		return fmt.Sprintf("history: %s where the session sends as many others", count(p.Items, "item"))
	case p.Renamed:
		return fmt.Sprintf("history: %d of %s differ: they name the new directory", p.Differs, count(p.Items, "item"))
	case p.Items == p.Before:
		return fmt.Sprintf("history: %d of %s differ, all marked", p.Differs, count(p.Items, "item"))
	}
	return fmt.Sprintf("history: %s where the session sends %d", count(p.Items, "item"), p.Before)
}

// Prove compares two readings; the error says what is not as the plan wants it.
func (plan *Plan) Prove(before, after *session.Sent) (*Print, error) {
	return prove(before, after, plan.Sends, plan.Closed, plan.Says)
}

// ProveLike compares what is sent of the result with another reading that the plan names. There is nothing to compare if it names none.
func (plan *Plan) ProveLike(after *session.Sent) error {
	if plan.Like == nil {
		return nil
	}
	_, err := prove(plan.Like, after, plan.AsLike, nil, nil)
	return err
}

func prove(before, after *session.Sent, want Relation, closed []string, says func(text string) string) (*Print, error) {
	if want == Marked {
		before, after = unthinking(before), unthinking(after)
	}
	if want == Prefix {
		before, after = own(before, closed), own(after, closed)
	}
	p := &Print{Items: len(after.Items), Before: len(before.Items), SHA256: sumOf(after), Was: sumOf(before)}
	p.Bytes, p.Prompts = extent(after)
	p.Held, p.Asked = extent(before)
	if after.Refused != "" && before.Refused == "" {
		return p, fmt.Errorf("the client would refuse it: %s", after.Refused)
	}
	n := min(len(before.Items), len(after.Items))
	unmarked := -1
	for i := range n {
		b, a := &before.Items[i], &after.Items[i]
		if a.Sum == b.Sum && a.Kind == b.Kind && a.ID == b.ID {
			continue
		}
		p.Differs++
		if says != nil && !bytes.Contains(a.Content, []byte(Mark)) && !saysAs(b.Content, a.Content, says) {
			return p, fmt.Errorf("the client would send something else in %s than what becomes of %s", place(a), place(b))
		}
		if unmarked < 0 && !bytes.Contains(a.Content, []byte(Mark)) && !(want == Marked && bytes.Contains(a.Content, []byte(redacted))) {
			unmarked = i
			p.First = fmt.Sprintf("%s, where the session has %s", place(a), place(b))
		}
	}
	switch want {
	case Same:
		if !p.Identical() || p.Differs > 0 {
			return p, fmt.Errorf("the client would send %d items where it sends %d now, and %d differ; the first: %s", p.Items, p.Before, p.Differs, p.First)
		}
	case Prefix:
		if unmarked >= 0 || p.Items > p.Before {
			return p, fmt.Errorf("the client would not send the first items of what it sends now; the first that differs: %s", p.First)
		}
	case Holds:
		if i := notHeld(before, after); i >= 0 {
			return p, fmt.Errorf("the client would no longer send what stands in %s", place(&before.Items[i]))
		}
	case Renamed:
		if p.Renamed = p.Differs > 0; p.Items != p.Before {
			return p, fmt.Errorf("the client would send %d items where it sends %d now", p.Items, p.Before)
		}
	case Anew:
		p.Anew = true
	case Marked:
		if unmarked >= 0 || p.Items != p.Before {
			return p, fmt.Errorf("the client would send %d items where it sends %d now, and one differs without saying so: %s", p.Items, p.Before, p.First)
		}
	}
	return p, nil
}

// saysAs says whether an item is another one of which each text has become what it is to become, and which differs in nothing else.
func saysAs(before, after []byte, says func(text string) string) bool {
	var was, is []*Value
	values := func(list *[]*Value) func(v *Value) bool {
		return func(v *Value) bool {
			if !v.IsObject() && !v.IsArray() {
				*list = append(*list, v)
			}
			return true
		}
	}
	Walk(before, values(&was))
	Walk(after, values(&is))
	return slices.EqualFunc(was, is, func(b, a *Value) bool {
		return slices.Equal(b.Path, a.Path) && (a.Raw == b.Raw || a.String() == b.String() || a.String() == says(b.String()))
	})
}

// extent is how many bytes the items of a reading take, and how many messages of them are a person's.
func extent(s *session.Sent) (bytes int64, prompts int) {
	seen := map[int]bool{}
	for i := range s.Items {
		it := &s.Items[i]
		bytes += int64(len(it.Content))
		if it.Kind == session.TextItem && it.Role == "user" && it.Made == "" {
			seen[it.Message] = true
		}
	}
	return bytes, len(seen)
}

// own is a reading without what the client makes up, and without the outputs of some calls.
func own(s *session.Sent, closed []string) *session.Sent {
	return without(s, func(it session.Item) bool {
		return it.Made != "" || it.Kind == session.OutputItem && slices.Contains(closed, it.CallID)
	})
}

func without(s *session.Sent, drop func(session.Item) bool) *session.Sent {
	return &session.Sent{Refused: s.Refused, Items: slices.DeleteFunc(slices.Clone(s.Items), drop), Inherited: s.Inherited}
}

// notHeld is the first item of the session's own that is missing from another reading, -1 if none is.
func notHeld(before, after *session.Sent) int {
	k := 0
	for i := range before.Items {
		if before.Items[i].Made != "" {
			continue
		}
		for k < len(after.Items) && after.Items[k].Sum != before.Items[i].Sum {
			k++
		}
		if k == len(after.Items) {
			return i
		}
		k++
	}
	return -1
}

// unthinking is a reading without reasoning, which an operation that marks its changes may take out.
func unthinking(s *session.Sent) *session.Sent {
	return without(s, func(it session.Item) bool { return it.Kind == session.ReasoningItem })
}

// redacted begins each placeholder for a secret.
const redacted = "REDACTED_"

func place(i *session.Item) string {
	if i.Made != "" {
		return fmt.Sprintf("%s (%s, which the client makes up)", i.Pos, i.Made)
	}
	return fmt.Sprintf("%s, %s", i.Pos, i.Path)
}

// sumOf is a SHA-256 over what the items say.
func sumOf(s *session.Sent) string {
	h := sha256.New()
	for i := range s.Items {
		h.Write(s.Items[i].Sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
