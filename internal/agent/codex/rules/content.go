package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleForeignReasoning = texts.Rule(finding.Rule{Name: "foreign-reasoning", Family: "items", Impact: finding.Rejects, Fix: finding.SetAside})
	ruleBadImage         = texts.Rule(finding.Rule{Name: "bad-image", Family: "items", Impact: finding.Notes, Fix: finding.StandIn})
)

// sealed is how everything that OpenAI encrypts begins.
var sealed = []byte(`"gAAAA`)

// What is refused in reasoning: in what is encrypted, and in what can be read.
var (
	sealLimits    = api.LimitsOf("reasoning", "encrypted_content")
	thoughtLimits = api.LimitsOf("reasoning", "content")
)

// wholeToken reports whether a quoted text is as long as an encrypted token can be: 57 bytes and whole blocks of 16, as base64 (all
// of 1,908 in published sessions are). A word put in place of a part of it leaves such a length once in twenty; the search for
// the word, through what may be a quarter of a session, is not worth those.
func wholeToken(seal []byte) bool {
	const head, block = 57, 16
	letters := len(bytes.TrimRight(seal[1:len(seal)-1], "="))
	return letters%4 != 1 && (letters*3/4-head)%block == 0
}

// reasoning checks whether the session's provider accepts reasoning. If the item has to go, it returns the finding that says
// why.
func (c *itemChecker) reasoning(it item) *finding.Finding {
	if it.Type != "response_item/reasoning" {
		return nil
	}
	content, seal := codex.Field(it.Record, codex.FieldContent), codex.Field(it.Record, codex.FieldEncrypted)
	strange, clear := false, false
	if !bytes.HasPrefix(seal, sealed) || !wholeToken(seal) {
		_, strange = sealLimits.Wrong(c.run.provider.Name, seal)
	}
	if len(content) > 0 && content[0] == '[' {
		_, clear = thoughtLimits.Wrong(c.run.provider.Name, content)
	}
	switch {
	case strange:
		f := it.finding(ruleForeignReasoning, finding.SetAside, it.Spans[codex.FieldEncrypted].Start, "encrypted reasoning that is not in OpenAI's form: the API can't verify it and refuses the request")
		return &f
	case clear:
		f := it.finding(ruleForeignReasoning, finding.SetAside, it.Spans[codex.FieldContent].Start, "reasoning with readable content, as other providers write it: the API refuses the request")
		if !bytes.HasPrefix(seal, sealed) {
			return &f
		}
		f.Edits = []finding.Edit{it.splice(session.SetMember(it.Raw, it.path, "content", []byte("null")))}
		c.run.Report(f)
	}
	return nil
}

// imageKey is the member that holds an image.
var imageKey = []byte(`"image_url"`)

// images checks the images of a prompt or of an output. They may be very long, so they are found and checked in place.
func (c *itemChecker) images(it item) {
	c.limited.leftOut = 0
	if it.Answer || codex.OneText(it.Record) {
		return
	}
	for _, field := range []int{codex.FieldContent, codex.FieldOutput} {
		if list := codex.Field(it.Record, field); len(list) > 0 && list[0] == '[' {
			c.imagesIn(it, it.Spans[field])
		}
	}
}

// placedImage is where an image stands in its item's own Raw.
type placedImage struct {
	item
	from       int // the object that holds it does not begin before this
	key        int
	start, end int // of its address
}

// imagesIn looks at the images in a part of an item.
func (c *itemChecker) imagesIn(it item, part jsonl.Span) {
	from := part.Start
	for at := part.Start; ; {
		n := bytes.Index(it.Raw[at:part.End], imageKey)
		if n < 0 {
			return
		}
		at += n + len(imageKey)
		start, end, ok := session.TextBehind(it.Raw, at)
		if !ok || end > part.End {
			continue
		}
		c.image(placedImage{it, from, at - len(imageKey), start, end})
		at, from = end, end+1
	}
}

// image looks at one image.
func (c *itemChecker) image(im placedImage) {
	url := im.Raw[im.start:im.end]
	v := api.CheckImage(url)
	// Data with an escape in it is not base64 as it stands, so a good image need not be searched for one.
	if head, _, _ := bytes.Cut(url, []byte(",")); v.Fault != "" || v.Place != api.Inline || bytes.IndexByte(head, '\\') >= 0 {
		if bytes.IndexByte(url, '\\') >= 0 {
			url, _ = jsonl.AppendUnquoted(nil, im.Raw[im.start-1:im.end+1])
			v = api.CheckImage(url)
		}
	}
	old := c.run.olderThan(145)
	switch {
	case v.Place == api.Web && !old:
		f := im.finding(ruleBadImage, finding.NoFix, im.key, "an image on the web: the client leaves it out")
		f.Impact = finding.Notes
		c.run.Report(f)
	case v.Place == api.Nowhere:
		c.badImage(im, v, finding.Rejects, "the API refuses the request")
	case v.Fault != "" && old:
		c.badImage(im, v, finding.Rejects, "the API refuses the request")
	case v.Fault != "":
		c.limited.leftOut++
		c.badImage(im, v, finding.Notes, "the client leaves it out")
	case old && v.Real != "":
		c.label(im, v)
	}
}

// label checks what the address of a good image says about it, for clients that pass that on.
func (c *itemChecker) label(im placedImage, v api.ImageVerdict) {
	var message string
	impact := finding.Notes
	switch {
	case v.Declared == "" || strings.Contains(v.Declared, "/"):
		message, impact = "an inline image whose data URL names no image type: the API refuses the request", finding.Rejects
	case !v.Plain:
		message = "an inline image whose data URL holds more than its type: some APIs may refuse that"
	case v.Declared == v.Real, v.Declared == "jpg" && v.Real == "jpeg":
		return
	default:
		message = fmt.Sprintf("an inline image that is labelled %s but is %s: some APIs refuse that", check.Clip([]byte(v.Declared), 20), v.Real)
	}
	f := im.finding(ruleBadImage, finding.NoFix, im.key, message)
	f.Impact = impact
	if comma := bytes.IndexByte(im.Raw[im.start:im.end], ','); comma > 0 {
		f.Fix, f.Edits = finding.Exact, []finding.Edit{im.splice(finding.Cut{Start: im.start, End: im.start + comma, New: []byte("data:image/" + v.Real + ";base64")})}
	}
	c.run.Report(f)
}

// badImage reports an image that can't be read.
func (c *itemChecker) badImage(im placedImage, v api.ImageVerdict, impact finding.Impact, then string) {
	f := im.finding(ruleBadImage, finding.NoFix, im.key, fmt.Sprintf("an image that can't be read (%s): %s", v.Fault, then))
	f.Impact = impact
	if start, end, ok := session.ObjectAround(im.Raw, im.from, im.key); ok {
		text := fmt.Sprintf("[hist: an image (%s, %d characters) stood here that can't be read: %s]", check.Clip([]byte(cmp.Or(v.Declared, "no type")), 20), im.end-im.start, v.Fault)
		standIn := append(append([]byte(`{"type":"input_text","text":`), quoted(text)...), '}')
		f.Fix, f.Edits = finding.StandIn, []finding.Edit{im.splice(finding.Cut{Start: start, End: end, New: standIn})}
	}
	c.run.Report(f)
}
