package follow

import (
	"cmp"
	"container/heap"
	"time"
)

// pending holds the paths that have changed, and when each is to be reported. The first that is due is found without looking
// at all of them, because copying a home changes ten thousand at once.
type pending struct {
	due   map[string]time.Time
	order moments // an entry for every call of set; those that a later call has replaced are skipped
}

func (p *pending) has(path string) bool {
	_, ok := p.due[path]
	return ok
}

func (p *pending) set(path string, at time.Time) {
	p.due[path] = at
	heap.Push(&p.order, moment{path, at})
}

func (p *pending) drop(path string) { delete(p.due, path) }

// first returns the path that is due first, "" if there is none.
func (p *pending) first() (path string, at time.Time) {
	for len(p.order) > 0 {
		m := p.order[0]
		if at, ok := p.due[m.path]; ok && at.Equal(m.at) {
			return m.path, m.at
		}
		heap.Pop(&p.order)
	}
	return "", time.Time{}
}

type moment struct {
	path string
	at   time.Time
}

// moments is a heap, the earliest on top.
type moments []moment

func (m moments) Len() int { return len(m) }
func (m moments) Less(i, j int) bool {
	return cmp.Or(m[i].at.Compare(m[j].at), cmp.Compare(m[i].path, m[j].path)) < 0
}
func (m moments) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(x any)   { *m = append(*m, x.(moment)) }
func (m *moments) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	(*m)[last] = moment{}
	*m = (*m)[:last]
	return x
}
