package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

// kind is a kind of item as a specification has it.
type kind struct {
	Schema, Type string
	Fields       []field
}

type field struct {
	Name              string
	Required          bool
	Types             string // the first letters of the JSON types that it may have: a, b, i, n, o, s; "" is any
	Enum              []string
	Longest, Shortest int      // of a text, in characters; 0: no limit
	Parts             []string // the types that the elements of an array may have
}

// limit is what an API refuses without that its specification says so.
type limit struct {
	Kind, Field, Check, Want string
	Providers                []string
	When                     string // "always"; "named": where an error names the field; "change": if the session was made with another provider
	Mend                     string
}

// Fault is one thing that is wrong with an item.
type Fault struct {
	Path string // in the item, as gjson reads it
	What string // in words, without any text of the conversation
	Mend string // the limit's; "" if only a specification says that it is wrong
}

// Known says whether refusals of such items are known: a specification alone asks for more than its API does.
func (f Fault) Known() bool { return f.Mend != "" }

// Providers are the APIs that the limits tell apart.
var Providers = []string{"openai", "chatgpt", "azure", "compatible", "anthropic", "gateway"}

// Check is what is wrong with an item, as a provider sees it; "" is any provider. named is the path of a field that an error names, "" if none does; a
// field that only some endpoints refuse is wrong only if it is named.
func Check(item []byte, provider, named string) []Fault {
	return check(item, provider, "*", func(l *limit) bool { return l.When == "always" || l.When == "named" && l.Field == named })
}

// Foreign is what a provider does not know of an item that was made with another one. block says that it is one of the Messages API.
func Foreign(item []byte, provider string, block bool) []Fault {
	any := "*"
	if block {
		any = "block"
	}
	return check(item, provider, any, func(l *limit) bool { return l.When != "always" })
}

// check is what is wrong with an item by some of the limits; any is the kind of the limits that count for all kinds.
func check(item []byte, provider, any string, counts func(l *limit) bool) (faults []Fault) {
	parsed := gjson.ParseBytes(item)
	typ, role := parsed.Get("type").String(), parsed.Get("role").String()
	for i := range limits {
		l := &limits[i]
		if provider != "" && !slices.Contains(l.Providers, provider) || l.Kind != any && l.Kind != typ && l.Kind != typ+"/"+role || !counts(l) {
			continue
		}
		faults = append(faults, l.faults(parsed)...)
	}
	return faults
}

// Misfits is what a specification does not allow in an item. An API may take it all the same.
func Misfits(item []byte) []Fault {
	parsed := gjson.ParseBytes(item)
	var best []Fault
	known := false
	typ := parsed.Get("type").String()
	for _, table := range [][]kind{inputItems, contentBlocks} {
		for i := range table {
			if k := &table[i]; k.Type == typ && k.Type != "" && k.takes(parsed.Get("role")) {
				if found := k.faults(parsed); !known || len(found) < len(best) {
					best, known = found, true
				}
			}
		}
	}
	if !known {
		return []Fault{{Path: "type", What: fmt.Sprintf("no kind of item is called %q", clip(typ))}}
	}
	return best
}

// takes says whether items of the kind may have a role.
func (k *kind) takes(role gjson.Result) bool {
	return !slices.ContainsFunc(k.Fields, func(f field) bool { return f.Name == "role" && role.Exists() && !slices.Contains(f.Enum, role.Str) })
}

func (k *kind) faults(item gjson.Result) (faults []Fault) {
	say := func(path, format string, args ...any) {
		faults = append(faults, Fault{Path: path, What: fmt.Sprintf(format, args...)})
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		switch v := item.Get(f.Name); {
		case !v.Exists() && f.Required:
			say(f.Name, "it has no %s", f.Name)
		case !v.Exists():
		case f.Types != "" && !strings.Contains(f.Types, typeOf(v)):
			say(f.Name, "its %s is %s", f.Name, typeNames[typeOf(v)])
		case len(f.Enum) > 0 && v.Type == gjson.String && !slices.Contains(f.Enum, v.Str):
			say(f.Name, "its %s is %q", f.Name, clip(v.Str))
		case f.Longest > 0 && v.Type == gjson.String && len([]rune(v.Str)) > f.Longest:
			say(f.Name, "its %s is longer than %d characters", f.Name, f.Longest)
		case f.Shortest > 0 && v.Type == gjson.String && len(v.Str) < f.Shortest:
			say(f.Name, "its %s is empty", f.Name)
		case len(f.Parts) > 0 && v.IsArray():
			for i, part := range v.Array() {
				if t := part.Get("type").String(); !slices.Contains(f.Parts, t) {
					say(f.Name+"."+strconv.Itoa(i)+".type", "its %s holds a part of the type %q", f.Name, clip(t))
				}
			}
		}
	}
	item.ForEach(func(key, _ gjson.Result) bool {
		if !slices.ContainsFunc(k.Fields, func(f field) bool { return f.Name == key.Str }) {
			say(key.Str, "it has the field %q, which its kind does not have", clip(key.Str))
		}
		return true
	})
	return faults
}

// faults are those of an item by one limit; of a field in each element of a list there may be several.
func (l *limit) faults(item gjson.Result) (faults []Fault) {
	list, member, inList := strings.Cut(l.Field, ".")
	if v := item.Get(list); inList && v.IsArray() {
		for i, part := range v.Array() {
			if what := l.wrong(part.Get(member), "a part's "+member); what != "" {
				faults = append(faults, Fault{fmt.Sprintf("%s.%d.%s", list, i, member), what, l.Mend})
			}
		}
		return faults
	}
	if what := l.wrong(item.Get(l.Field), "its "+l.Field); what != "" {
		faults = append(faults, Fault{l.Field, what, l.Mend})
	}
	return faults
}

// wrong says what is wrong with a value by the limit, "" if nothing is. name is what the value is called.
func (l *limit) wrong(v gjson.Result, name string) string {
	if !v.Exists() {
		return ""
	}
	text := v.Type == gjson.String
	switch n, _ := strconv.Atoi(l.Want); l.Check {
	case "absent":
		return name + " is not taken by this endpoint"
	case "prefix":
		if text && !strings.HasPrefix(v.Str, l.Want+"_") {
			return name + " does not begin with " + l.Want + "_"
		}
	case "chars":
		if text && v.Str != "" && strings.ContainsFunc(v.Str, func(r rune) bool { return !plain(r) }) || text && v.Str == "" && l.Field != "name" {
			return name + " has characters other than letters, digits, _ and -"
		}
	case "longest":
		if text && len(v.Str) > n && len([]rune(v.Str)) > n {
			return fmt.Sprintf("%s is longer than %d characters", name, n)
		}
	case "shortest":
		if text && len(v.Str) < n {
			return name + " is empty"
		}
	case "longest-key":
		if text && len(v.Str) > n && longestKey(v.Str) > n {
			return fmt.Sprintf("%s hold a key of more than %d characters", name, n)
		}
	case "most":
		switch {
		case !v.IsArray() || len(v.Array()) <= n:
		case n == 0:
			return name + " is not empty"
		default:
			return fmt.Sprintf("%s has %d elements, more than %d", name, len(v.Array()), n)
		}
	case "one-of":
		if text && !slices.Contains(strings.Split(l.Want, ","), v.Str) {
			return fmt.Sprintf("%s is %q", name, clip(v.Str))
		}
	case "not":
		if text && slices.Contains(strings.Split(l.Want, ","), v.Str) {
			return fmt.Sprintf("%s is %q", name, clip(v.Str))
		}
	case "json-type":
		if typeOf(v) != l.Want {
			return name + " is " + typeNames[typeOf(v)]
		}
	case "blank":
		if text && strings.TrimSpace(v.Str) == "" {
			return name + " is blank"
		}
	}
	return ""
}

// plain says whether a character may stand in an id.
func plain(r rune) bool {
	return r == '_' || r == '-' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
}

// longestKey is the length of the longest key in a text of JSON, in characters.
func longestKey(text string) (longest int) {
	var look func(v gjson.Result, depth int)
	look = func(v gjson.Result, depth int) {
		if depth > maxDepth || !v.IsObject() && !v.IsArray() {
			return
		}
		object := v.IsObject()
		v.ForEach(func(key, value gjson.Result) bool {
			if object {
				longest = max(longest, len([]rune(key.Str)))
			}
			look(value, depth+1)
			return true
		})
	}
	look(gjson.Parse(text), 0)
	return longest
}

// maxDepth is how deep a call's arguments are looked into.
const maxDepth = 32

// IDPrefix is how the ids of a kind of item begin, "" if that is not known.
func IDPrefix(kind string) string {
	for i := range limits {
		if l := &limits[i]; l.Check == "prefix" && l.Kind == kind {
			return l.Want
		}
	}
	return ""
}

func typeOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "o"
	case v.IsArray():
		return "a"
	case v.Type == gjson.String:
		return "s"
	case v.Type == gjson.Number:
		return "i"
	case v.Type == gjson.Null:
		return "n"
	}
	return "b"
}

var typeNames = map[string]string{"o": "an object", "a": "an array", "s": "a text", "i": "a number", "n": "null", "b": "a boolean"}

// clip shortens a word from an item to what a message can show.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.ToValidUTF8(s, "?")
}

// Sealed says whether an item holds encrypted content, which only the provider that made it can read.
func Sealed(item []byte) bool { return gjson.GetBytes(item, "encrypted_content").Type == gjson.String }

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func itoa(n int) string { return strconv.Itoa(n) }

// argumentShape wants nothing of a call's arguments: they are only to be JSON.
var argumentShape = func() *jsonl.Shape {
	shape, err := jsonl.Compile()
	if err != nil {
		panic("api: " + err.Error()) // an empty shape
	}
	return shape
}()

// isJSON says whether a text is one JSON value.
func isJSON(text string) bool {
	return jsonl.NewScanner(argumentShape).Scan([]byte(text), nil).Fault == jsonl.None
}
