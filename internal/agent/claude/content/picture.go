package content

import (
	"encoding/base64"
	"fmt"
	pixels "image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

var (
	imageLimits = api.LimitsOf("image", "source.data")
	maxImage    = imageLimits.Most("longest")      // bytes, of an image's text
	maxPixels   = imageLimits.Most("side")         // on a side
	ManyPixels  = imageLimits.Most("side-of-many") // on a side, where a request holds more images than
	Many        = imageLimits.Most("few")
)

var imageTypes = []string{"jpeg", "png", "gif", "webp"}

// checkImage looks at an image block that begins at a byte of the record; copy is the second copy of a tool's image.
func (n *Facts) checkImage(at int, v gjson.Result, copied string) {
	n.Own().Pictures++
	source := v.Get("source")
	if !source.IsObject() {
		n.sourceless(at, v, copied)
		return
	}
	if source.Get("type").String() != "base64" {
		return
	}
	media, data := source.Get("media_type").String(), source.Get("data").String()
	problem, short := judge(media, data)
	if short {
		if !whole(copied) {
			f := n.Fault(faults.BadPicture, at, "an image is cut short: the API may refuse it")
			f.Fix, f.Impact = finding.NoFix, faults.OnAll(finding.Notes)
			return
		}
		problem = "it is cut short"
	}
	if problem == "" {
		if w, h := dimensions(data); w > ManyPixels || h > ManyPixels {
			n.Own().Wide = append(n.Wide, picture{jsonl.Span{Start: at, End: at + len(v.Raw)}, w, h})
		}
		return
	}
	f := n.Fault(faults.BadPicture, at, "an image that the API refuses: "+problem)
	f.Lost = 1
	if len(data) > maxImage {
		f.Impact.Newest = finding.Blocks
	}
	put := func(block format.Object) {
		f.Cuts = []finding.Cut{{Start: at, End: at + len(v.Raw), New: block.JSON()}}
	}
	named, real, bare := source.Get("media_type"), realType(data), bareBase64(data)
	switch {
	case !short && bare != data && sound(bare):
		f.Fix, f.Lost = finding.Exact, 0
		put(imageOf(bare))
	case !short && sound(data):
		f.Fix, f.Lost, f.Message = finding.Exact, 0, f.Message+"; its data is "+real
		put(imageOf(data))
		if named.Exists() {
			f.Cuts = []finding.Cut{within(at, named, `"image/`+real+`"`)}
		}
	case sound(copied):
		f.Fix, f.Lost, f.Source = finding.Recovered, 0, "the tool's structured result"
		put(imageOf(copied))
	default:
		put(format.Object{"type": "text", "text": fmt.Sprintf("[hist: an image (%s, %d bytes) stood here; the API refuses it: %s]", Clip(media), len(data)/4*3, problem)})
	}
}

// sourceless reports an image block without a source, as tools of an MCP server return it; the data may be in the block itself, or in
// the second copy of a tool's image.
func (n *Facts) sourceless(at int, v gjson.Result, copied string) {
	f := n.Fault(faults.BadPicture, at, "an image that the API refuses: it has no source")
	f.Lost = 1
	whole := format.Object{"type": "text", "text": "[hist: an image without a source stood here; the API refuses it]"}
	if data := bareBase64(v.Get("data").String()); sound(data) {
		f.Fix, f.Lost, f.Message = finding.Exact, 0, f.Message+"; its data is in the block itself"
		whole = imageOf(data)
	} else if sound(copied) {
		f.Fix, f.Lost, f.Source = finding.Recovered, 0, "the tool's structured result"
		whole = imageOf(copied)
	}
	f.Cuts = []finding.Cut{{Start: at, End: at + len(v.Raw), New: whole.JSON()}}
}

// imageOf is an image block for some data, with the type that the data has.
func imageOf(data string) format.Object {
	return format.Object{"type": "image", "source": format.Object{"type": "base64", "media_type": "image/" + realType(data), "data": data}}
}

// bareBase64 is base64 data without white space and without the head of a data URL.
func bareBase64(data string) string {
	if strings.HasPrefix(data, "data:") {
		_, data, _ = strings.Cut(data, ",")
	}
	if !strings.ContainsAny(data, " \t\r\n") {
		return data
	}
	return strings.Join(strings.Fields(data), "")
}

// within is the cut that replaces the value of a member, given the block that holds it.
func within(at int, member gjson.Result, value string) finding.Cut {
	start := at + member.Index
	return finding.Cut{Start: start, End: start + len(member.Raw), New: []byte(value)}
}

// sound says whether the API may accept an image, whatever type the block names.
func sound(data string) bool {
	problem, _ := judge("image/"+realType(data), data)
	return problem == ""
}

// whole says whether nothing is wrong with an image's data, whatever type the block names.
func whole(data string) bool {
	problem, short := judge("image/"+realType(data), data)
	return problem == "" && !short
}

// judge says why the API surely refuses an image. If it does not, short says whether the data ends before the last pixel, as
// far as its type shows that.
func judge(media, data string) (problem string, short bool) {
	kind, ok := strings.CutPrefix(media, "image/")
	switch {
	case !ok || !slices.Contains(imageTypes, kind):
		return "its type is not supported", false
	case len(data) > maxImage:
		return "it is over 5 MB", false
	}
	v := api.CheckImage([]byte("data:" + media + ";base64," + data))
	switch {
	case v.Real == "" && v.Fault != "":
		return v.Fault, false
	case len(data)/4*3 < headers[v.Real]:
		return "it ends in its header", false
	case v.Real != "" && v.Real != kind:
		return "its data is of another type", false
	}
	if w, h := dimensions(data); w > maxPixels || h > maxPixels {
		return fmt.Sprintf("it is %d by %d pixels, and no side may be over %d", w, h, maxPixels), false
	}
	return "", v.Fault != ""
}

// headers are the sizes, in bytes, of what comes before any pixel in an image of each type.
var headers = map[string]int{"png": 33, "gif": 13, "webp": 20, "jpeg": 20}

// realType is the type of image that some data is; "" if it is none that is known.
func realType(data string) string {
	return api.CheckImage([]byte("data:image/png;base64," + data)).Real
}

// dimensions reads an image's size from its header, 0 for WebP and for what has none.
func dimensions(data string) (width, height int) {
	c, _, err := pixels.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// picture is an image that the API accepts only in a request with few images.
type picture struct {
	Span          jsonl.Span
	Width, Height int
}
