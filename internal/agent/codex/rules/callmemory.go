package rules

import (
	"math"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// callKey is a call_id within its family, hashed. Two of a million calls have the same key in one of 30 million sessions.
type callKey uint64

// answered is a call whose output has come.
type answered struct {
	call, output uint64 // hashes of what they say
	at           session.Pos
	proof        uint64
	length       int
	proven       bool
	torn         bool   // closed by hist where its line was cut
	begun        uint64 // hash of the call's time
	written      uint64 // hash of the output's id and time: a second record with the same is this one again
}

func (c *callChecker) key(family session.Family, id []byte) callKey {
	return callKey(codex.Sum(id)) + callKey(family)
}

// says is the hash of some fields of a record.
func says(rec *session.Record, fields ...int) (sum uint64) {
	for _, field := range fields {
		sum = sum*31 + codex.SumOf(rec, field)
	}
	return sum >> 32 // 32 bits are enough to tell two calls with one id apart
}

// A session may hold millions of calls. Of the newest answered ones, newAnswered are kept with all that is known of them. Of
// oldAnswered calls before these, only the hashes of call and output are kept: a second output that comes so much later is
// reported as one without a call.
const (
	newAnswered = 1 << 14
	oldAnswered = 1 << 17
)

// keep notes an answered call.
func (c *callChecker) keep(key callKey, a answered) {
	kept, gone := c.done.add(uint64(key))
	if gone != 0 {
		c.old.put(gone, kept.call<<32|kept.output)
	}
	*kept = a
}

// answered returns what is known of a call that has been answered.
func (c *callChecker) answered(key callKey) (answered, bool) {
	if a := c.done.get(uint64(key)); a != nil {
		return *a, true
	}
	if v := c.old.get(uint64(key)); v != nil {
		return answered{call: *v >> 32, output: *v & math.MaxUint32, proven: true}, true
	}
	return answered{proven: true}, false
}
