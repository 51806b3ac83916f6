package lint

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/image"
	"github.com/hist-cli/hist/internal/jsonl"
)

var (
	ruleForeignReasoning = &Rule{
		Name: "foreign-reasoning", Family: "items", Impact: Rejects, Fix: SetAside,
		Title: "reasoning that another provider wrote",
		Text: `OpenAI's models give their reasoning encrypted; models of other providers write it into content, and a session that is carried on with OpenAI then sends it: "Invalid 'input[7].content': array too long. Expected an array with maximum length 0". ` +
			`Gateways seal it in a form of their own, which "could not be verified". Clients send both as they stand (measured). Repair empties the content, and sets the item aside if nothing that OpenAI encrypted is in it. docs/providers.md says for which providers.`,
	}
	ruleBadImage = &Rule{
		Name: "bad-image", Family: "items", Impact: Notes, Fix: StandIn,
		Title: "an inline image that the model API can't read",
		Text: `The data of an image does not decode, is cut short, or is no PNG, JPEG, GIF or WebP; its address names no type of image ("Expected a base64-encoded data URL with an image MIME type"); or it is larger than all images of a request may be. Where the address names another type than the image has it is only noted: OpenAI is not known to mind, others do; with --tidy repair names the right one. Clients from 0.145 on put "image content omitted because it could not be processed" in its place; older ones send it as it is (measured), ` +
			`and the API refuses every request with it ("Invalid image in your last message"): with --for-codex of such a version it rejects. Repair puts a text there that says what it was, for that version or with --tidy. ` +
			`Only the image's headers are looked at, and whether the rest is base64.`,
	}
)

// sealed begins what OpenAI encrypts.
var sealed = []byte(`"gAAAA`)

// reasoning looks for reasoning that the session's provider does not take back. What it returns, if anything, is why the
// item has to go.
func (c *itemChecker) reasoning(it item) *Finding {
	if it.Type != "response_item/reasoning" || !c.run.provider.Reasoning {
		return nil
	}
	content, seal := codex.Field(it.Record, codex.FieldContent), codex.Field(it.Record, codex.FieldEncrypted)
	strange := len(seal) > len(`""`) && seal[0] == '"' && !bytes.HasPrefix(seal, sealed)
	clear := len(content) > 0 && content[0] == '[' && gjson.GetBytes(content, "#").Int() > 0
	switch {
	case strange:
		f := it.finding(ruleForeignReasoning, SetAside, it.Spans[codex.FieldEncrypted].Start, "encrypted reasoning that is not in OpenAI's form: the API can't verify it and refuses the request")
		return &f
	case clear:
		f := it.finding(ruleForeignReasoning, SetAside, it.Spans[codex.FieldContent].Start, "reasoning with readable content, as other providers write it: the API refuses the request")
		if !bytes.HasPrefix(seal, sealed) {
			return &f
		}
		f.Edits = []Edit{it.splice(codex.Set(it.Raw, it.path, "content", []byte("null")))}
		c.run.report(f)
	}
	return nil
}

// inlineImage is how an inline image begins in the file, as clients write it.
var inlineImage = []byte(`"image_url":"data:`)

// images looks at the inline images of a prompt or of an output. They may be very long: they are found and checked
// where they stand.
func (c *itemChecker) images(it item) {
	if it.Answer {
		return
	}
	for _, field := range []int{codex.FieldContent, codex.FieldOutput} {
		if list := codex.Field(it.Record, field); len(list) > 0 && list[0] == '[' {
			c.imagesIn(it, it.Spans[field])
		}
	}
}

// imagesIn looks at the images in a part of an item.
func (c *itemChecker) imagesIn(it item, part jsonl.Span) {
	for at := part.Start; ; {
		n := bytes.Index(it.Raw[at:part.End], inlineImage)
		if n < 0 {
			return
		}
		start := at + n + len(inlineImage) - len("data:")
		end := start + max(0, bytes.IndexByte(it.Raw[start:], '"'))
		if fault, kind := image.Check(it.Raw[start:end]); fault != "" {
			c.badImage(it, at+n, end-start, fault, kind)
		} else if real := image.Mislabelled(it.Raw[start:end]); real != "" {
			c.mislabelled(it, at+n, Cut{Start: start + len("data:image/"), End: start + bytes.IndexByte(it.Raw[start:end], ';'), New: []byte(real)})
		}
		at = end
	}
}

// mislabelled reports an image whose address names another type than it has; typed is the cut that names its own.
func (c *itemChecker) mislabelled(it item, key int, typed Cut) {
	f := it.finding(ruleBadImage, Exact, key, fmt.Sprintf("an inline image that is said to be %s and is %s: some APIs refuse that", it.Raw[typed.Start:typed.End], typed.New))
	f.Impact, f.Edits = Notes, []Edit{it.splice(typed)}
	c.run.report(f)
}

// badImage reports the image whose address begins behind a key at a place of the item.
func (c *itemChecker) badImage(it item, key, size int, fault, kind string) {
	then, impact := "the client leaves it out", Notes
	if c.run.olderThan(0, 145) {
		then, impact = "the API refuses the request", Rejects
	}
	f := it.finding(ruleBadImage, NoFix, key, fmt.Sprintf("an inline image that can't be read (%s): %s", fault, then))
	f.Impact = impact
	if start, end, ok := codex.ObjectAround(it.Raw, key); ok {
		text := fmt.Sprintf("[hist: an image (%s, %d characters) stood here that can't be read: %s]", clip([]byte(kind), 20), size, fault)
		standIn := append(append([]byte(`{"type":"input_text","text":`), quoted(text)...), '}')
		f.Fix, f.Edits = StandIn, []Edit{it.splice(Cut{Start: start, End: end, New: standIn})}
	}
	c.run.report(f)
}
