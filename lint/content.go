package lint

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/image"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleForeignReasoning = &Rule{
		Name: "foreign-reasoning", Family: "items", Impact: Rejects, Fix: SetAside,
		Title: "reasoning in the clear, which another provider wrote",
		Text: `OpenAI's models give their reasoning encrypted; models of other providers write it into content, and a session that is carried on with OpenAI then sends it: "Invalid 'input[7].content': array too long. Expected an array with maximum length 0". ` +
			`Repair empties the content, and sets the item aside if nothing encrypted is in it. Only where the session's provider is OpenAI.`,
	}
	ruleBadImage = &Rule{
		Name: "bad-image", Family: "items", Impact: Notes, Fix: StandIn,
		Title: "an inline image that the model API can't read",
		Text: `The data of an image does not decode, or is no PNG, JPEG, GIF or WebP. Clients from 0.145 on put "image content omitted because it could not be processed" in its place; older ones send it as it is (measured), ` +
			`and the API refuses every request with it ("Invalid image in your last message"): with --for-codex of such a version it rejects. Repair puts a text there that says what it was, for that version or with --tidy. ` +
			`Only the image's first bytes are looked at, and whether the rest is base64.`,
	}
	ruleBadCompaction = &Rule{
		Name: "bad-compaction", Family: "items", Impact: Loses, Fix: Exact,
		Title: "a compaction whose list of metadata has another length than its history",
		Text: `A compaction of 0.154 and later may say something of each item that it leaves, in replacement_history_metadata. If that list has another length than the history, or stands without one, the client can't read the record: ` +
			`"replacement_history_metadata has N entries for M history items". Then the whole history before it is sent again. Repair takes the list out.`,
	}
)

// reasoning looks for reasoning in the clear.
func (c *itemChecker) reasoning(rec *session.Record) {
	if !c.unique() || !bytes.Equal(codex.Text(rec, codex.FieldPayloadType), []byte("reasoning")) {
		return
	}
	content := codex.Field(rec, codex.FieldContent)
	if len(content) == 0 || content[0] != '[' || gjson.GetBytes(content, "#").Int() == 0 {
		return
	}
	f := Finding{
		Rule: ruleForeignReasoning, Impact: Rejects, Fix: SetAside, Pos: rec.Pos, Offset: rec.Offset + int64(rec.Spans[codex.FieldContent].Start), Record: rec.Type,
		Message: "reasoning with readable content, as other providers write it: the API refuses the request",
	}
	if secret := gjson.GetBytes(rec.Raw, "payload.encrypted_content"); secret.Type == gjson.String && secret.Raw != `""` {
		f.Edits = []Edit{{At: rec.Pos, Op: Splice, Cuts: []Cut{codex.Set(rec.Raw, "payload", "content", []byte("null"))}}}
	} else {
		f.Unseen, f.Edits = 1, []Edit{{At: rec.Pos, Op: Remove}}
	}
	c.run.report(f)
}

// inlineImage is how an inline image begins in the file, as clients write it.
var inlineImage = []byte(`"image_url":"data:image/`)

// images looks at the inline images of a prompt or of an output. They may be very long: they are found and checked
// where they stand.
func (c *itemChecker) images(rec *session.Record) {
	if output := codex.Field(rec, codex.FieldOutput); !rec.Model || rec.Answer || len(output) > 0 && output[0] == '"' {
		return
	}
	for at := 0; ; {
		n := bytes.Index(rec.Raw[at:], inlineImage)
		if n < 0 {
			return
		}
		start := at + n + len(inlineImage) - len("data:image/")
		end := start + max(0, bytes.IndexByte(rec.Raw[start:], '"'))
		if fault, kind := image.Check(rec.Raw[start:end]); fault != "" {
			c.badImage(rec, at+n, end-start, fault, kind)
		}
		at = end
	}
}

// badImage reports the image whose address begins behind a key at a place of the record.
func (c *itemChecker) badImage(rec *session.Record, key, size int, fault, kind string) {
	f := Finding{
		Rule: ruleBadImage, Impact: Notes, Fix: StandIn, Pos: rec.Pos, Offset: rec.Offset + int64(key), Record: rec.Type,
		Message: "an inline image that can't be read (" + fault + "): the client leaves it out",
	}
	if c.run.olderThan(0, 145) {
		f.Impact, f.Message = Rejects, "an inline image that can't be read ("+fault+"): the API refuses the request"
	}
	text := fmt.Sprintf("[hist: an image (%s, %d characters) stood here that can't be read: %s]", clip([]byte(kind), 20), size, fault)
	if start, end, ok := codex.ObjectAround(rec.Raw, key); ok {
		f.Edits = []Edit{{At: rec.Pos, Op: Splice, Cuts: []Cut{{Start: start, End: end, New: append(append([]byte(`{"type":"input_text","text":`), quoted(text)...), '}')}}}}
	} else {
		f.Fix = NoFix
	}
	c.run.report(f)
}

// metadata compares the lengths of a compaction's two lists.
func (c *itemChecker) metadata(rec *session.Record) {
	said := gjson.GetBytes(rec.Raw, "payload.replacement_history_metadata")
	if !said.Exists() || said.Type == gjson.Null {
		return
	}
	history := gjson.ParseBytes(codex.Field(rec, codex.FieldReplacement))
	items, entries := history.Get("#").Int(), said.Get("#").Int()
	if said.IsArray() && history.IsArray() && items == entries {
		return
	}
	rec.Refused = true
	c.run.report(Finding{
		Rule: ruleBadCompaction, Impact: Loses, Fix: Exact, Pos: rec.Pos, Offset: rec.Offset + int64(said.Index), Record: rec.Type,
		Message: fmt.Sprintf("the compaction has %d items and metadata of %d: the client can't read it, and sends all that was before it again", items, entries),
		Edits:   []Edit{{At: rec.Pos, Op: Splice, Cuts: []Cut{codex.Drop(rec.Raw, "payload", "replacement_history_metadata")}}},
	})
}
