package surgery

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Part is a text or an image of an item, in whichever form its agent keeps it.
type Part struct {
	Text  string
	Type  string // of an image: "image/png"
	Image string // base64; "" for a text
	URL   string // of an image that the session only names
}

// Parts are the texts and images that an item says. Of a call they are what it asks for, of an output what came of it.
func Parts(item *session.Item) (list []Part) {
	root := gjson.ParseBytes(item.Content)
	if root.Type == gjson.String {
		return []Part{{Text: root.String()}}
	}
	if root.IsArray() {
		for _, el := range root.Array() {
			list = append(list, partOf(el))
		}
		return list
	}
	for _, key := range []string{"content", "arguments", "input", "action", "output", "text", "thinking", "summary", "message"} {
		v := root.Get(key)
		switch {
		case !v.Exists() || v.Type == gjson.Null:
		case v.Type == gjson.String:
			list = append(list, Part{Text: v.String()})
		case item.Kind == session.CallItem:
			list = append(list, Part{Text: v.Raw})
		case v.IsArray():
			for _, el := range v.Array() {
				list = append(list, partOf(el))
			}
		case v.IsObject():
			list = append(list, partOf(v))
		}
	}
	if root.Get("source").Exists() || root.Get("image_url").Exists() || root.Get("mimeType").Exists() {
		list = append(list, partOf(root))
	}
	return list
}

// partOf reads one element of a content.
func partOf(el gjson.Result) Part {
	if el.Type == gjson.String {
		return Part{Text: el.String()}
	}
	if src := el.Get("source"); src.Get("type").String() == "base64" {
		return Part{Type: src.Get("media_type").String(), Image: src.Get("data").String()}
	} else if src.Get("url").Exists() {
		return Part{URL: src.Get("url").String()}
	}
	if media := el.Get("mimeType"); media.Exists() {
		return Part{Type: media.String(), Image: el.Get("data").String()}
	}
	url := el.Get("image_url").String()
	if head, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		return Part{Type: strings.TrimPrefix(head, "data:"), Image: data}
	}
	if url != "" {
		return Part{URL: url}
	}
	for _, key := range []string{"text", "content", "tool_name"} {
		if v := el.Get(key); v.Type == gjson.String {
			return Part{Text: v.String()}
		}
	}
	return Part{Text: el.Raw}
}

// Spoken are the parts' texts, one under the other.
func Spoken(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
