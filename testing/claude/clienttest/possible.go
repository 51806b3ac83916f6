package clienttest

import (
	"bytes"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

// short is the length in bytes up to which a text must stand in a file as a string of its own to be taken for the one
// that is looked for.
const short = 24

// Possible are the items of a sound session of which a damaged file still holds the content, wherever it stands: the most
// that any repair can bring back without other files.
func Possible(data []byte, whole []string) []string {
	hay := plain(data)
	var left []string
	for _, item := range whole {
		if inText(hay, item) {
			left = append(left, item)
		}
	}
	return left
}

// plain is a file's text without what hides it: another encoding, NULs, raw line ends; beside it, one level of escapes less.
func plain(data []byte) string {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
		}
		data = []byte(string(utf16.Decode(units)))
	}
	s := strings.NewReplacer("\x00", "", "\n", "", "\r", "").Replace(string(data))
	return s + "\n" + strings.ReplaceAll(s, `\"`, `"`)
}

// inText says whether an item's content stands in a text.
func inText(hay, item string) bool {
	kind, rest, _ := strings.Cut(item, " ")
	switch kind {
	case "text":
		_, words, _ := strings.Cut(rest, " ")
		return holds(hay, words)
	case "call":
		id, rest, _ := strings.Cut(rest, " ")
		_, input, _ := strings.Cut(rest, " ")
		return strings.Contains(hay, `"`+id+`"`) && inValue(hay, "", gjson.Parse(input))
	case "result":
		id, words, _ := strings.Cut(rest, " ")
		return strings.Contains(hay, `"`+id+`"`) && holds(hay, words)
	}
	signature, words, _ := strings.Cut(rest, " ")
	return holds(hay, signature) && (words == "" || holds(hay, words))
}

// inValue says whether the words of a value stand in a text, and its numbers behind the names that they have there.
func inValue(hay, name string, v gjson.Result) bool {
	switch {
	case v.Type == gjson.String:
		return holds(hay, v.String())
	case v.Type == gjson.Number:
		return strings.Contains(hay, `"`+name+`":`+v.Raw)
	case !v.IsObject() && !v.IsArray():
		return true
	}
	all := true
	v.ForEach(func(key, v gjson.Result) bool {
		all = all && inValue(hay, key.String(), v)
		return all
	})
	return all
}

func holds(hay, words string) bool {
	quoted := string(jsonl.AppendQuote(nil, words))
	if len(words) > short {
		quoted = quoted[1 : len(quoted)-1]
	}
	return strings.Contains(hay, quoted)
}
