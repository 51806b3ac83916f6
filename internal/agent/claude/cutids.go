package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/session"
)

// minBegun is how many digits of an id are enough to tell which one it is.
const minBegun = 8

// begunID is what is left of a record's id whose line was cut off within it; "" if it was cut off elsewhere.
func begunID(rec *session.Record) string {
	const key = `"uuid":"`
	_, id, found := bytes.Cut(rec.Original, []byte(key))
	if !found {
		return ""
	}
	n := 0
	for n < len(id) && (id[n] == '-' || '0' <= id[n] && id[n] <= '9' || 'a' <= id[n] && id[n] <= 'f') {
		n++
	}
	if n < minBegun || n >= len(zeroID) || n < len(id) && id[n] == '"' {
		return ""
	}
	return string(id[:n])
}

const zeroID = "00000000-0000-0000-0000-000000000000"

// idFor is the id for a record that has none of its own. If a part of its id is left, that is the missing id which begins so;
// otherwise the missing id that fits its place. "" if there is none.
func (c *Checker) idFor(i int, missing map[string]int) string {
	begun := c.begunIDs[c.nodes[i]]
	if begun == "" {
		return c.wanted(i, missing)
	}
	if c.missingIDs == nil {
		for id := range missing {
			c.missingIDs = append(c.missingIDs, id)
		}
		slices.Sort(c.missingIDs)
	}
	at, _ := slices.BinarySearch(c.missingIDs, begun)
	if at < len(c.missingIDs) && strings.HasPrefix(c.missingIDs[at], begun) && c.ids.get(c.missingIDs[at]) == nil {
		return c.missingIDs[at]
	}
	if strings.HasPrefix(c.leaf, begun) && c.ids.get(c.leaf) == nil {
		return c.leaf
	}
	return ""
}
