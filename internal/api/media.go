package api

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Parts of an item that are no text: images, documents and references to tools.

const toolReference = "tool_reference"

// Unanswered are the parts of the given types behind the last answer: what stands in front of that was taken with the request for it.
func Unanswered(sent *session.Sent, types ...string) (places []Place) {
	one, more := "", ""
	for i := len(sent.Items) - 1; i >= 0 && !answers(&sent.Items[i]); i-- {
		see := func(path string, v gjson.Result, _ string) {
			typ := strings.ReplaceAll(strings.TrimPrefix(v.Get("type").String(), "input_"), "_", " ")
			if !slices.Contains(types, typ) {
				return
			}
			places = append(places, Place{i, Fault{Path: path, Mend: "image"}})
			if one == "" {
				one, more = typ, typ+"s"
			} else if one != typ {
				more = "parts that are no text"
			}
		}
		content := gjson.ParseBytes(sent.Items[i].Content)
		media(content, "", 0, see)
		for k, part := range content.Get("content").Array() {
			if part.Get("type").String() == toolReference {
				see("content."+itoa(k), part, "")
			}
		}
	}
	for k := range places {
		places[k].Fault.What = fmt.Sprintf("it is the only %s since the last answer", one)
		if len(places) > 1 {
			places[k].Fault.What = fmt.Sprintf("it is one of %d %s since the last answer, and nothing says which of them is refused", len(places), more)
		}
	}
	slices.Reverse(places)
	return places
}

// LargeImage is from how many characters on an image's address may be what an API refuses without saying so. (Reports are of 11 MB
// and more; the Messages API takes 5 MB.)
const LargeImage = 5 << 20

// picture says whether an item holds an image, or a document, that can't be read, is not what it says, or is too large; or which one the refusal
// names by its place. An image's type can be compared with its data: where a refusal is about that, no other image is at fault.
func (l *locator) picture(it *session.Item) (Fault, bool) {
	r := l.r
	var proven, named Fault
	size, at := 0, ""
	if it.Message == r.Message && (r.Block < 0 || it.Block == r.Block) {
		at = fieldIn(gjson.ParseBytes(it.Content), r.Field)
		if r.Inner >= 0 {
			at = "content." + itoa(r.Inner)
		}
	}
	media(gjson.ParseBytes(it.Content), "", 0, func(path string, v gjson.Result, url string) {
		isDocument := v.Get("type").String() == "document"
		if isDocument != (r.Mend == "document") {
			return
		}
		if it.Message == r.Message && (r.Block < 0 || it.Block == r.Block) && (len(url) > size || path != "" && strings.HasPrefix(at, path)) {
			named, size = Fault{Path: path, What: "it is what the error names", Mend: r.Mend}, len(url)
			if path != "" && strings.HasPrefix(at, path) {
				size = math.MaxInt
			}
		}
		if what := unfit(url, isDocument); what != "" && proven.What == "" {
			proven = Fault{Path: path, What: what, Mend: r.Mend}
		}
	})
	if r.Mend == "image-type" {
		proven.Mend = "image"
		return proven, proven.What != ""
	}
	if size == math.MaxInt || proven.What == "" {
		return named, named.What != ""
	}
	return proven, true
}

// unfit is what is wrong with an image or a document, "" if nothing is known to be.
func unfit(url string, isDocument bool) string {
	corrupt := corruptImage([]byte(url))
	switch verdict := CheckImage([]byte(url)); {
	case isDocument:
		return corrupt
	case corrupt != "":
		return "its image can't be read: " + corrupt
	case verdict.Fault != "":
		return "its image can't be read: " + verdict.Fault
	case verdict.Real != "" && verdict.Declared != "" && verdict.Declared != verdict.Real:
		return "its image says " + clip(verdict.Declared) + " and is " + verdict.Real
	case len(url) > LargeImage:
		return "its image is large"
	}
	return ""
}

// tooMany are the oldest images of more than a request may hold, by what the refusal says of their number.
func (l *locator) tooMany() (places []Place) {
	for i := range l.sent.Items {
		media(gjson.ParseBytes(l.sent.Items[i].Content), "", 0, func(path string, v gjson.Result, _ string) {
			if v.Get("type").String() != "document" {
				places = append(places, Place{i, Fault{Path: path, What: fmt.Sprintf("it is one of the oldest images of more than %d", l.r.Most), Mend: l.r.Mend}})
			}
		})
	}
	return places[:max(0, len(places)-l.r.Most)]
}

// media calls see for each image and document in a value, with its path and its address as a data URL.
func media(v gjson.Result, path string, depth int, see func(path string, v gjson.Result, url string)) {
	if depth > maxDepth {
		return
	}
	switch {
	case v.IsArray():
		for i, part := range v.Array() {
			media(part, join(path, itoa(i)), depth+1, see)
		}
	case v.IsObject():
		typ := v.Get("type").String()
		switch url, source := v.Get("image_url"), v.Get("source"); {
		case typ == "input_image" && url.Type == gjson.String:
			see(path, v, url.Str)
		case (typ == "image" || typ == "document") && source.IsObject():
			see(path, v, "data:"+source.Get("media_type").String()+";base64,"+source.Get("data").String())
		case typ == "image" && v.Get("data").Exists():
			see(path, v, "data:"+v.Get("mimeType").String()+";base64,"+v.Get("data").String())
		default:
			for _, key := range []string{"content", "output"} {
				media(v.Get(key), join(path, key), depth+1, see)
			}
		}
	}
}

// Large are the items with an image so large that it may be what an API refuses without saying so, the largest first.
func Large(sent *session.Sent) (places []Place) {
	size := map[int]int{}
	for i := range sent.Items {
		if len(sent.Items[i].Content) < LargeImage {
			continue
		}
		media(gjson.ParseBytes(sent.Items[i].Content), "", 0, func(path string, v gjson.Result, url string) {
			if len(url) >= LargeImage && v.Get("type").String() != "document" {
				size[i] = len(url)
				places = append(places, Place{i, Fault{Path: path, What: fmt.Sprintf("its image of %d.%d MB is likely what is refused", len(url)/1e6, len(url)/1e5%10), Mend: "image"}})
			}
		})
	}
	slices.SortStableFunc(places, func(a, b Place) int { return size[b.Item] - size[a.Item] })
	return places
}
