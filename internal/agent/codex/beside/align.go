package beside

// found is where items of a request are missing in the session: those from from up to to, in the gap in front of item at.
type found struct{ at, from, to int }

// align lays a request over the items that a session would have the model be sent. gap says whether something is damaged
// in front of an item, or at the end; late, whether the request was sent behind an item that it does not hold. Only in
// gaps the request may hold more, and what follows there must stand in the request in one place only. It is false where
// the two tell of different courses of events.
func align(have, want []uint64, gap []bool, before func(item int) bool) (lost []found, ok bool) {
	steps := effort * (len(have) + len(want))
	i := 0
	for j := 0; i < len(want); {
		if !gap[j] {
			if j == len(have) {
				return lost, true // nothing is damaged: what follows has been taken back, or is another client's
			}
			if have[j] != want[i] {
				return nil, false
			}
			i, j = i+1, j+1
			continue
		}
		if j == len(have) {
			return append(lost, found{j, i, len(want)}), true
		}
		end := j + 1
		for end < len(have) && !gap[end] {
			end++
		}
		at, n, one := find(want[i:], have[j:end], &steps)
		if !one {
			return nil, false
		}
		if n == 0 && !before(j) { // what stands behind the gap was not sent yet, and should have been
			return nil, false
		}
		if at > 0 {
			lost = append(lost, found{j, i, i + at})
		}
		i, j = i+at+n, j+n
		if j < end {
			return lost, true // the request ends here
		}
	}
	return lost, true
}

// effort bounds the work of one comparison: so many steps an item.
const effort = 32

// find looks for the one place in text where words stand, or as many of them as are left in front of the end of text: at,
// and how many. It is false if there is more than one such place, or steps have run out.
func find(text, words []uint64, steps *int) (at, n int, one bool) {
	back := make([]int, len(words)) // Knuth, Morris and Pratt
	for i, k := 1, 0; i < len(words); i++ {
		for k > 0 && words[i] != words[k] {
			k = back[k-1]
		}
		if words[i] == words[k] {
			k++
		}
		back[i] = k
	}
	places, k := 0, 0
	for i, w := range text {
		if *steps--; *steps < 0 {
			return 0, 0, false
		}
		for k > 0 && (k == len(words) || words[k] != w) {
			k = back[k-1]
		}
		if words[k] == w {
			k++
		}
		if k == len(words) {
			at, n = i+1-k, k
			places++
		}
	}
	switch {
	case places > 0:
		return at, n, places == 1
	case k > 0:
		return len(text) - k, k, back[k-1] == 0
	}
	return len(text), 0, true
}
