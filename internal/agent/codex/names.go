package codex

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
