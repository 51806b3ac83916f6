package repair

import "sort"

// lineMap says which lines of a copy are lines of its session, the same except perhaps for their ordinals. Its runs of lines
// are sorted in both texts.
type lineMap []lineRun

// lineRun is n lines that begin at line copied in the copy and at line from in the session.
type lineRun struct{ copied, from, n int64 }

func (m *lineMap) add(copied, from, n int64) {
	if k := len(*m); k > 0 {
		if last := &(*m)[k-1]; last.copied+last.n == copied && last.from+last.n == from {
			last.n += n
			return
		}
	}
	*m = append(*m, lineRun{copied, from, n})
}

// then composes two maps: m maps a copy to the session, next maps a copy of that copy to the copy. The result maps the second
// copy to the session.
func (m lineMap) then(next lineMap) lineMap {
	var out lineMap
	i := 0
	for _, r := range next {
		for r.n > 0 {
			for i < len(m) && m[i].copied+m[i].n <= r.from {
				i++
			}
			if i == len(m) || m[i].copied >= r.from+r.n {
				break
			}
			skip := max(0, m[i].copied-r.from)
			r = lineRun{r.copied + skip, r.from + skip, r.n - skip}
			n := min(r.n, m[i].copied+m[i].n-r.from)
			out.add(r.copied, m[i].from+r.from-m[i].copied, n)
			r = lineRun{r.copied + n, r.from + n, r.n - n}
		}
	}
	return out
}

// session returns the line of the session that a line of the copy is or, if it is new, the one that it comes after or
// replaces.
func (m lineMap) session(line int64) int64 {
	i := sort.Search(len(m), func(i int) bool { return m[i].copied > line })
	if i == 0 {
		return 1
	}
	r := m[i-1]
	return r.from + min(line-r.copied, r.n)
}
