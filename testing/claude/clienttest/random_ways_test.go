package clienttest

import (
	"math/rand/v2"
	"slices"
)

// randomWay damages a session at a line.
type randomWay struct {
	name string
	do   func(s Session, i int, r *rand.Rand) Session
}

// largeWays are what happens to more than a few records: a block of the disk is lost or was never written, the head of a file
// is cut off, an editor or a script puts a part in twice, two files are sorted into one another.
var largeWays = []randomWay{
	{"middle-gone", func(s Session, i int, r *rand.Rand) Session {
		return slices.Delete(slices.Clone(s), i, min(len(s), i+6+r.IntN(15)))
	}},
	{"head-gone", func(s Session, i int, r *rand.Rand) Session {
		return append(Session{s[i][r.IntN(len(s[i])+1):]}, s[i+1:]...)
	}},
	{"middle-zeros", func(s Session, i int, r *rand.Rand) Session {
		text := s.Bytes()
		from := r.IntN(len(text))
		clear(text[from:min(len(text), from+512*(1+r.IntN(8)))])
		return Lines(text)
	}},
	{"half-again", func(s Session, i int, r *rand.Rand) Session {
		at := r.IntN(len(s) + 1)
		return slices.Insert(slices.Clone(s), at, s[i:]...)
	}},
	{"head-again", func(s Session, i int, _ *rand.Rand) Session { return append(slices.Clone(s), s[:i+1]...) }},
	{"halves-changed", func(s Session, i int, _ *rand.Rand) Session { return append(slices.Clone(s[i:]), s[:i]...) }},
	{"another-between", func(s Session, i int, r *rand.Rand) Session {
		out := slices.Clone(s)
		at := i
		for n, l := range anotherSession {
			if at = min(len(out), at+r.IntN(3)); n == 0 {
				at = i
			}
			out = slices.Insert(out, at, []byte(l))
			at++
		}
		return out
	}},
}

// anotherSession is a turn of another session, as the file of one looks into which lines of another were sorted.
var anotherSession = []string{
	`{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/dev/other","sessionId":"cccccccc-0000-4000-8000-000000000000","type":"user","message":{"role":"user","content":"other prompt"},"uuid":"cccccccc-0000-4000-8000-000000000001","timestamp":"2026-10-30T09:00:00.000Z"}`,
	`{"parentUuid":"cccccccc-0000-4000-8000-000000000001","isSidechain":false,"userType":"external","cwd":"/home/dev/other","sessionId":"cccccccc-0000-4000-8000-000000000000","type":"assistant","message":{"id":"msg_other","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"other answer"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"cccccccc-0000-4000-8000-000000000002","timestamp":"2026-10-30T09:00:08.000Z"}`,
}

var randomWays = []randomWay{
	{"gone", func(s Session, i int, _ *rand.Rand) Session { return s.without(i) }},
	{"block-gone", func(s Session, i int, r *rand.Rand) Session {
		return slices.Delete(slices.Clone(s), i, min(len(s), i+2+r.IntN(4)))
	}},
	{"zeros", func(s Session, i int, _ *rand.Rand) Session { return s.with(i, make([]byte, len(s[i]))) }},
	{"cut", func(s Session, i int, r *rand.Rand) Session { return s.with(i, s[i][:r.IntN(len(s[i])+1)]) }},
	{"cut-glued", func(s Session, i int, r *rand.Rand) Session {
		if i+1 == len(s) {
			return nil
		}
		return s.with(i, append(slices.Clone(s[i][:r.IntN(len(s[i])+1)]), s[i+1]...)).without(i + 1)
	}},
	{"headless", func(s Session, i int, r *rand.Rand) Session { return s.with(i, s[i][r.IntN(len(s[i])+1):]) }},
	{"zeroed-part", func(s Session, i int, r *rand.Rand) Session {
		l := slices.Clone(s[i])
		from := r.IntN(len(l) + 1)
		clear(l[from:min(len(l), from+1+r.IntN(300))])
		return s.with(i, l)
	}},
	{"tail", func(s Session, i int, r *rand.Rand) Session {
		return append(slices.Clone(s[:i]), s[i][:r.IntN(len(s[i])+1)])
	}},
	{"twice", func(s Session, i int, _ *rand.Rand) Session { return slices.Insert(slices.Clone(s), i, s[i]) }},
	{"block-again", func(s Session, i int, r *rand.Rand) Session {
		return append(slices.Clone(s), s[i:min(len(s), i+1+r.IntN(6))]...)
	}},
	{"swapped", func(s Session, i int, _ *rand.Rand) Session {
		if i+1 == len(s) {
			return nil
		}
		return s.with(i, s[i+1]).with(i+1, s[i])
	}},
	{"moved", func(s Session, i int, r *rand.Rand) Session { return slices.Insert(s.without(i), r.IntN(len(s)), s[i]) }},
	{"split", func(s Session, i int, r *rand.Rand) Session {
		at := r.IntN(len(s[i]) + 1)
		return slices.Insert(s.with(i, s[i][:at]), i+1, s[i][at:])
	}},
	{"byte", func(s Session, i int, r *rand.Rand) Session {
		if len(s[i]) == 0 {
			return nil
		}
		l := slices.Clone(s[i])
		l[r.IntN(len(l))] ^= 1 << r.IntN(7)
		return s.with(i, l)
	}},
	{"root", func(s Session, i int, _ *rand.Rand) Session {
		if !inTree(s[i]) {
			return nil
		}
		return s.with(i, Set(s[i], "", "parentUuid", "null"))
	}},
	{"elsewhere", func(s Session, i int, r *rand.Rand) Session {
		if !inTree(s[i]) {
			return nil
		}
		if id := get(s[r.IntN(len(s))], "uuid"); id != "" {
			return s.with(i, Set(s[i], "", "parentUuid", `"`+id+`"`))
		}
		return s.with(i, Set(s[i], "", "parentUuid", `"`+otherID+`"`))
	}},
}
