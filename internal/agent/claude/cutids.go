package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/session"
)

// minBegun is how much of an id tells which it is.
const minBegun = 8

// begunID is the part of a record's id that is left where its line was cut within that, "" if it was cut elsewhere.
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

// idFor is the id that a record gets which has none of its own: the one that it begins, if anything names that, else what fits its
// place; "" if nothing does.
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
