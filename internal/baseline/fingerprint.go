// Package baseline tells findings that are known from new ones.
//
// In: the findings of sessions, in the order in which they stand there. Out: a fingerprint for each, and files that
// hold fingerprints. A fingerprint says nothing of a session's content, and it stays the same when lines are added,
// moved or mended elsewhere in the session.
package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is what a finding is recognized by.
type Key struct {
	Thread string // the thread's id, or the file's name where none is known
	Rule   string
	Record string // the record's type
	IDs    string // the ids of the record; they are hashed
	Size   int64  // of a line that is no record, in bytes: it has no ids
}

// Prints gives the findings of one session their fingerprints.
type Prints struct{ seen map[Key]int }

// Of returns the fingerprint of the next finding with this key: 32 hexadecimal digits. Findings that have the same
// key, such as those of lines without any id, are told apart by their order.
func (p *Prints) Of(k Key) string {
	if p.seen == nil {
		p.seen = map[Key]int{}
	}
	p.seen[k]++
	// Each field is quoted, so that no two keys can be written alike.
	text := fmt.Sprintf("2 %q %q %q %q %d %d", strings.ToLower(k.Thread), k.Rule, k.Record, k.IDs, k.Size, p.seen[k])
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
