package lint

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleDuplicateItemID = &Rule{
		Name: "duplicate-item-id", Family: "items", Impact: Rejects, Fix: Exact,
		Title: "two items with one id",
		Text: `Clients from 0.144 on send the ids of messages and reasoning to the model API, which refuses a history that names one twice ("Duplicate item found with id"). ` +
			`Repair sets an exact copy aside; from a different item it takes the id, which is optional, and leaves as many spaces. Providers other than OpenAI ` +
			`may number their items anew: there only an item that directly follows its twin is one.`,
	}
	itemRules = []*Rule{ruleBadItemID, ruleDuplicateItemID, ruleForeignReasoning, ruleBadImage, ruleBadCompaction}
)

// itemChecker looks at single items of the model's history that are neither call nor output: those are paired by
// their call_id, and a second one of them is found there.
type itemChecker struct {
	run  *run
	seed maphash.Seed
	seen map[uint64]uint64 // id to content, hashed, of the newest items
	old  map[uint64]uint64 // of those before
	last uint64            // id of the newest item, hashed
}

func newItemChecker(s *run) *itemChecker {
	return &itemChecker{run: s, seed: maphash.MakeSeed(), seen: map[uint64]uint64{}}
}

func (c *itemChecker) Record(rec *session.Record) {
	defer func() {
		if rec.Model {
			c.last = maphash.Bytes(c.seed, rec.ID)
		}
	}()
	bad := c.ids(rec)
	c.images(rec)
	switch {
	case rec.Kind == session.Compaction:
		c.metadata(rec)
		clear(c.seen)
		clear(c.old)
		gjson.ParseBytes(codex.Field(rec, codex.FieldReplacement)).ForEach(func(_, item gjson.Result) bool {
			if id := item.Get("id").String(); id != "" {
				c.keep(maphash.String(c.seed, id), maphash.String(c.seed, item.Raw))
			}
			return true
		})
	case rec.Kind == session.Message && rec.Model:
		c.reasoning(rec)
		if len(rec.ID) == 0 || bad {
			return
		}
		id := maphash.Bytes(c.seed, rec.ID)
		content := maphash.Bytes(c.seed, codex.Field(rec, codex.FieldPayload))
		if earlier, ok := c.earlier(id); ok && (id == c.last || c.unique()) {
			c.duplicate(rec, earlier == content)
			return
		}
		c.keep(id, content)
	}
}

func (c *itemChecker) End() {}

// keptIDs is how many ids, at least, are kept to be met again.
const keptIDs = 1 << 16

func (c *itemChecker) keep(id, content uint64) {
	if len(c.seen) >= keptIDs {
		c.old, c.seen = c.seen, make(map[uint64]uint64, keptIDs)
	}
	c.seen[id] = content
}

// earlier is the content of an item with this id that came before.
func (c *itemChecker) earlier(id uint64) (content uint64, ok bool) {
	if content, ok = c.seen[id]; !ok {
		content, ok = c.old[id]
	}
	return content, ok
}

// unique says whether the session's provider never gives an id twice.
func (c *itemChecker) unique() bool {
	return c.run.header.Provider == "openai" || c.run.header.Provider == ""
}

func (c *itemChecker) duplicate(rec *session.Record, copied bool) {
	f := Finding{
		Rule: ruleDuplicateItemID, Impact: Rejects, Fix: Exact, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("a second item with the id %s: the API refuses the request", clip(rec.ID, 64)),
	}
	if copied {
		f.Fix, f.Unseen = SetAside, 1
		f.Message += "; it is a copy of the first"
		f.Edits = []Edit{{At: rec.Pos, Op: Remove}}
	} else {
		cut := codex.Drop(rec.Raw, "payload", "id")
		cut.New = bytes.Repeat([]byte{' '}, cut.End-cut.Start)
		f.Edits = []Edit{{At: rec.Pos, Op: Splice, Cuts: []Cut{cut}}}
	}
	c.run.report(f)
}
