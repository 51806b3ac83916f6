package codex

import (
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// names maps a few dozen names to their meanings. They are grouped by length: few have the same, so a look-up compares one or
// two names, which takes less time than hashing.
type names[V any] [][]named[V]

type named[V any] struct {
	name    string
	meaning V
}

func namesOf[V any](meanings map[string]V) names[V] {
	var n names[V]
	for name, meaning := range meanings {
		for len(n) <= len(name) {
			n = append(n, nil)
		}
		n[len(name)] = append(n[len(name)], named[V]{name, meaning})
	}
	return n
}

// of returns the meaning of the name in a text field of a record, nil if it is unknown. Nobody writes a name with escapes, so
// it is decoded only if it is not found as it is.
func (n names[V]) of(rec *session.Record, field int) *V {
	if v := n.find(Literal(rec, field)); v != nil {
		return v
	}
	if text := Literal(rec, field); jsonl.HasEscape(text) {
		return n.find(Text(rec, field))
	}
	return nil
}

// find returns the meaning of a name, nil if it is unknown.
func (n names[V]) find(name []byte) *V {
	if len(name) >= len(n) {
		return nil
	}
	same := n[len(name)]
	for i := range same {
		if same[i].name == string(name) {
			return &same[i].meaning
		}
	}
	return nil
}
