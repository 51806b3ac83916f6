package beside

// found is where the session lacks items of a request: the items from index from up to (not including) to, in the gap in front
// of the session's item at.
type found struct{ at, from, to int }

// align compares a request with the items that the session would send. gap says whether something is damaged in front of an
// item, or at the end; before says whether an item was written before the request was sent. Only in gaps may the request hold
// more items, and what follows a gap must be in the request in one place only. ok is false if the two disagree.
func align(have, want []uint64, gap []bool, before func(item int) bool) (lost []found, ok bool) {
	steps := effort * (len(have) + len(want))
	i := 0
	for j := 0; i < len(want); {
		if !gap[j] {
			if j == len(have) {
				return lost, true // nothing is damaged: the rest was taken back, or is another client's
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
		if n == 0 && !before(j) { // what follows the gap was not sent, and should have been
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

// effort bounds the work of one comparison: how many steps are allowed per item.
const effort = 32

// find looks for the one place in text where words occur, or the beginning of words at the very end of text. It returns the
// place and how many of the words were found. one is false if there is more than one such place, or no steps are left.
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
