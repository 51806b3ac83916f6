package codex

import (
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// names is what a few dozen names mean, by their lengths: few share one, so that finding a name is comparing it with one
// or two, which takes less than hashing it.
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

// of returns what the name in a text field of a record means, nil if it is none of them. Nobody writes a name with escapes:
// only where it is not found as it stands is it decoded.
func (n names[V]) of(rec *session.Record, field int) *V {
	if v := n.find(Literal(rec, field)); v != nil {
		return v
	}
	if text := Literal(rec, field); jsonl.HasEscape(text) {
		return n.find(Text(rec, field))
	}
	return nil
}

// find returns what a name means, nil if it is none of them.
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
