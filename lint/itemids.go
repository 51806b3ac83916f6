package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/session"
)

var ruleBadItemID = &Rule{
	Name: "bad-item-id", Family: "items", Impact: Rejects, Fix: Exact,
	Title: "an item's id that the model API refuses",
	Text: `Clients from 0.144 on send the ids of items to the model API, if there is a _ in them (measured with 0.145.0 and 0.169.0). The API wants each kind's own prefix ("Expected an ID that begins with 'msg'"), at most 64 characters, and no others than letters, digits, _ and -. ` +
		`Gateways and other providers give ids of other forms, and a compaction carries them on. Repair takes the id, which is optional, and leaves as many spaces; never the call_id. ` +
		`A reasoning item means nothing without its id: it is set aside. Only where the session's provider is OpenAI.`,
}

// idPrefixes are how the ids of items begin (clients' own from 0.79 to 0.169, and what the API asks for in its errors).
var idPrefixes = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fco", "custom_tool_call": "ctc", "custom_tool_call_output": "ctco",
}

// maxItemID is the longest id that the API takes, in characters.
const maxItemID = 64

var cleanID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// wrongID says what is wrong with an item's id, "" if nothing is.
func wrongID(kind, id string) string {
	prefix, known := idPrefixes[kind]
	switch {
	case !known || !strings.Contains(id, "_"): // the client sends no other ids on
		return ""
	case !strings.HasPrefix(id, prefix+"_"):
		return fmt.Sprintf("the id of a %s begins with %s, and this one does not", kind, prefix)
	case len(id) > maxItemID:
		return fmt.Sprintf("an id of %d characters, of which the API takes %d", len(id), maxItemID)
	case !cleanID.MatchString(id):
		return "an id with other characters than letters, digits, _ and -"
	}
	return ""
}

// ids looks at the id of one item, or at those that a compaction carries on. It returns whether the item loses its id.
func (c *itemChecker) ids(rec *session.Record) (bad bool) {
	if !c.unique() || c.run.olderThan(0, 144) {
		return false
	}
	if rec.Kind == session.Compaction {
		n := -1
		gjson.ParseBytes(codex.Field(rec, codex.FieldReplacement)).ForEach(func(_, item gjson.Result) bool {
			n++
			if what := wrongID(item.Get("type").String(), item.Get("id").String()); what != "" {
				c.badID(rec, what+" (in the history that a compaction left)", "payload.replacement_history."+strconv.Itoa(n))
			}
			return true
		})
		return false
	}
	if !rec.Model || len(rec.ID) == 0 {
		return false
	}
	kind := string(codex.Text(rec, codex.FieldPayloadType))
	what := wrongID(kind, string(rec.ID))
	switch {
	case what == "":
		return false
	case kind == "reasoning":
		c.run.report(Finding{
			Rule: ruleBadItemID, Impact: Rejects, Fix: SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type, Message: what + ": the API refuses the request",
			Unseen: 1, Edits: []Edit{{At: rec.Pos, Op: Remove}},
		})
	default:
		c.badID(rec, what, "payload")
	}
	return true
}

// badID reports an id that is taken out of the item at a path of the record.
func (c *itemChecker) badID(rec *session.Record, what, at string) {
	cut := codex.Drop(rec.Raw, at, "id")
	cut.New = bytes.Repeat([]byte{' '}, cut.End-cut.Start)
	c.run.report(Finding{
		Rule: ruleBadItemID, Impact: Rejects, Fix: Exact, Pos: rec.Pos, Offset: rec.Offset + int64(cut.Start), Record: rec.Type,
		Message: what + ": the API refuses the request", Edits: []Edit{{At: rec.Pos, Op: Splice, Cuts: []Cut{cut}}},
	})
}
