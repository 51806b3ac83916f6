package format

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is what a finding is recognized by.
type Key struct {
	Thread string // the thread's id, or the file's name if the id is not known
	Rule   string
	Record string // the record's type
	IDs    string // the ids of the record; they are hashed
	Size   int64  // for a line that is not a record and so has no ids: its length in bytes
}

// Prints computes the fingerprints of one session's findings, in the order of their places. They tell findings that are known from new
// ones: a fingerprint reveals nothing of a session's content, and it stays the same when lines are added, moved or repaired elsewhere in
// the session.
type Prints struct{ seen map[Key]int }

// Of returns the fingerprint of the next finding with this key: 32 hexadecimal digits. Findings that have the same
// key, such as those of lines without any id, are distinguished by their order.
func (p *Prints) Of(k Key) string {
	if p.seen == nil {
		p.seen = map[Key]int{}
	}
	p.seen[k]++
	// Each field is quoted, so that different keys never give the same text.
	text := fmt.Sprintf("2 %q %q %q %q %d %d", strings.ToLower(k.Thread), k.Rule, k.Record, k.IDs, k.Size, p.seen[k])
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
