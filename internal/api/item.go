package api

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

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
	When                     string // "always"; "named": where an error names the field; "change": if the session was made with another provider; "request": what one item alone does not show
	Mend                     string

	most  int        // Want as a number
	chars *[256]bool // the characters that Want names
}

// limits are those of the table, with what they want made ready to be compared.
var limits = func() []limit {
	limits := listed
	for i := range limits {
		switch l := &limits[i]; l.Check {
		case "chars":
			l.chars = new([256]bool)
			for w := l.Want; w != ""; {
				from, to, n := w[0], w[0], 1
				if len(w) > 2 && w[1] == '-' {
					to, n = w[2], 3
				}
				for c := int(from); c <= int(to); c++ {
					l.chars[c] = true
				}
				w = w[n:]
			}
		default:
			l.most, _ = strconv.Atoi(l.Want)
		}
	}
	return limits
}()

// Limits are what is known to be refused in one field of a kind of item, in itself.
type Limits struct {
	list []*limit

	// What nearly all values show before they are read: texts within these are within all limits of the list, unless it has others.
	prefix    string
	chars     *[256]bool // nil: any
	most      int        // bytes
	shortest  bool       // an empty text is too short
	onlyMost  bool       // whatever is no longer is within the limits, even if it is no text
	hasOthers bool
}

func limitsOf(list []*limit) *Limits {
	all := &Limits{list: list, most: math.MaxInt, onlyMost: true}
	for _, l := range list {
		all.onlyMost = all.onlyMost && l.Check == "longest"
		switch {
		case l.Check == "required":
		case l.Check == "longest":
			all.most = min(all.most, l.most)
		case l.Check == "shortest" && l.most == 1:
			all.shortest = true
		case l.Check == "prefix" && all.prefix == "":
			all.prefix = l.Want
		case l.Check == "chars" && all.chars == nil:
			all.chars = l.chars
		default:
			all.hasOthers = true
		}
	}
	return all
}

// LimitsOf are those of a field; kind is the type of the items.
func LimitsOf(kind, field string) *Limits {
	var list []*limit
	for i := range limits {
		if l := &limits[i]; l.Field == field && l.When == "always" && (l.Kind == kind || l.Kind == "*") {
			list = append(list, l)
		}
	}
	return limitsOf(list)
}

// For are those of a provider, to be asked many times.
func (all *Limits) For(provider string) *Limits {
	var own []*limit
	for _, l := range all.list {
		if slices.Contains(l.Providers, provider) {
			own = append(own, l)
		}
	}
	return limitsOf(own)
}

// Wrong is the first thing that is wrong with the field in the eyes of a provider, "" being any. It is given the JSON of the field's value,
// empty if the item does not have it.
func (all *Limits) Wrong(provider string, value []byte) (Fault, bool) {
	quoted := len(value) > 1 && value[0] == '"'
	if quoted && all.fits(unsafe.String(&value[1], len(value)-2)) || !quoted && all.onlyMost && len(value) <= all.most {
		return Fault{}, false
	}
	v := gjson.Result{}
	if len(value) > 0 {
		v = valueOf(value)
	}
	return all.wrong(provider, &v)
}

// WrongText is the same of a field that is known to hold a text.
func (all *Limits) WrongText(provider, text string) (Fault, bool) {
	if all.fits(text) {
		return Fault{}, false
	}
	return all.wrong(provider, &gjson.Result{Type: gjson.String, Str: text})
}

// fits says whether a text is within the limits, as far as that shows at once. It may have escapes: none is shorter than what it stands for.
func (all *Limits) fits(text string) bool {
	if all.hasOthers || len(text) > all.most || len(text) == 0 && all.shortest || !strings.HasPrefix(text, all.prefix) {
		return false
	}
	return all.chars == nil || takes(all.chars, text)
}

func (all *Limits) wrong(provider string, v *gjson.Result) (Fault, bool) {
	for _, l := range all.list {
		if provider != "" && !slices.Contains(l.Providers, provider) {
			continue
		}
		if what := l.wrong(v); what != "" {
			return l.fault(l.Field, "its "+l.Field, what), true
		}
	}
	return Fault{}, false
}

// valueOf reads a value, of which nothing is copied unless it has an escape in it.
func valueOf(value []byte) gjson.Result {
	text := unsafe.String(unsafe.SliceData(value), len(value)) // it is only looked at
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' && strings.IndexByte(text, '\\') < 0 {
		return gjson.Result{Type: gjson.String, Raw: text, Str: text[1 : n-1]}
	}
	return gjson.Parse(text)
}

// Most is the number that is the limit by a check, 0 if there is none.
func (all *Limits) Most(check string) int {
	for _, l := range all.list {
		if l.Check == check {
			return l.most
		}
	}
	return 0
}

// Cleaned is a text without the characters that are refused in it.
func (all *Limits) Cleaned(text []byte) []byte {
	for _, l := range all.list {
		if l.chars != nil {
			text = bytes.Map(func(r rune) rune {
				if r < 0x80 && l.chars[r] {
					return r
				}
				return -1
			}, text)
		}
	}
	return text
}

// Fault is one thing that is wrong with an item.
type Fault struct {
	Path  string // in the item, as gjson reads it
	What  string // in words, without any text of the conversation
	Mend  string // the limit's; "" if only a specification says that it is wrong
	Value string // what belongs there, where only other items tell
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
	return check(item, provider, any, func(l *limit) bool { return l.When == "named" || l.When == "change" })
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
			v := part.Get(member)
			if what := l.wrong(&v); what != "" {
				faults = append(faults, l.fault(fmt.Sprintf("%s.%d.%s", list, i, member), "a part's "+member, what))
			}
		}
		return faults
	}
	v := item.Get(l.Field)
	if what := l.wrong(&v); what != "" {
		faults = append(faults, l.fault(l.Field, "its "+l.Field, what))
	}
	return faults
}

// plural are words for one thing of several, and for several things.
var plural = strings.NewReplacer("is ", "are ", "has ", "have ", "does ", "do ", "holds ", "hold ")

// fault is the fault of a field that is called name in a sentence, given what is wrong with it.
func (l *limit) fault(path, name, what string) Fault {
	if verb, rest, _ := strings.Cut(what, " "); strings.HasSuffix(name, "arguments") {
		what = plural.Replace(verb+" ") + rest
	}
	return Fault{Path: path, What: name + " " + what, Mend: l.Mend}
}

// wrong says what is wrong with a value by the limit, "" if nothing is.
func (l *limit) wrong(v *gjson.Result) string {
	if l.Check == "required" && v.Type != gjson.String {
		return "is missing"
	}
	if !v.Exists() && v.Type == gjson.Null {
		return ""
	}
	text := v.Type == gjson.String
	switch n := l.most; l.Check {
	case "absent":
		return "is not taken by this endpoint"
	case "prefix":
		if text && v.Str != "" && !strings.HasPrefix(v.Str, l.Want) {
			return "does not begin with " + l.Want
		}
	case "chars":
		if text && !takes(l.chars, v.Str) {
			return "has characters other than letters, digits and " + strings.TrimPrefix(l.Want, "A-Za-z0-9")
		}
	case "longest":
		if text && len(v.Str) > n && utf8.RuneCountInString(v.Str) > n {
			return fmt.Sprintf("is %d characters long, more than %d", utf8.RuneCountInString(v.Str), n)
		}
	case "shortest":
		if text && len(v.Str) < n {
			return "is empty"
		}
	case "longest-key":
		if inside := arguments(*v); len(inside) > n && longestKey(inside) > n {
			return fmt.Sprintf("holds a key of more than %d characters", n)
		}
	case "most":
		switch {
		case !v.IsArray() || len(v.Array()) <= n:
		case n == 0:
			return "is not empty"
		default:
			return fmt.Sprintf("has %d elements, more than %d", len(v.Array()), n)
		}
	case "one-of":
		if text && !slices.Contains(strings.Split(l.Want, ","), v.Str) {
			return fmt.Sprintf("is %q", clip(v.Str))
		}
	case "not":
		if text && slices.Contains(strings.Split(l.Want, ","), v.Str) {
			return fmt.Sprintf("is %q", clip(v.Str))
		}
	case "unredacted":
		if text && (strings.Contains(v.Str, "REDACTED") || strings.Contains(v.Str, "redacted") || strings.Contains(v.Str, "Redacted")) {
			return "was redacted in part"
		}
		if text && written(v.Str) {
			return "was redacted"
		}
	case "sealed":
		if text && !mayBeSealed(v.Str) {
			return "is plain text"
		}
	case "json-type":
		if typeOf(*v) != l.Want {
			return "is " + typeNames[typeOf(*v)]
		}
	case "blank":
		if text && strings.TrimSpace(v.Str) == "" {
			return "is blank"
		}
	}
	return ""
}

// mayBeSealed says whether a text has the form of encrypted ones, in whichever way that is written. What is shorter than a key is none.
func mayBeSealed(text string) bool {
	const shortest = 16
	sign := func(r rune) bool {
		return r >= utf8.RuneSelf || !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') && !strings.ContainsRune("+/=_-.:", r)
	}
	return text == "" || strings.HasPrefix(text, "gAAAA") || strings.HasPrefix(text, "{") && !strings.ContainsAny(text, " \n") || len(text) >= shortest && !strings.ContainsFunc(text, sign)
}

// written says whether a text is what programs that take out secrets write over them: one character over and over, or a word that says so.
func written(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if len(text) >= 3 && strings.Trim(text, string(first)) == "" {
		return true
	}
	word := strings.ToLower(strings.Trim(text, " <>[](){}*_-"))
	return slices.Contains([]string{"removed", "omitted", "stripped", "hidden", "masked", "scrubbed", "placeholder"}, word)
}

// takes says whether a text consists of these characters.
func takes(chars *[256]bool, text string) bool {
	for i := range len(text) {
		if !chars[text[i]] {
			return false
		}
	}
	return true
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

// arguments is the JSON of a call's arguments: most kinds of calls have it in a string.
func arguments(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return v.Raw
}

// maxDepth is how deep a call's arguments are looked into.
const maxDepth = 32

// IDPrefix is how the ids of a kind of item begin, "" if that is not known.
func IDPrefix(kind string) string {
	for i := range limits {
		if l := &limits[i]; l.Check == "prefix" && l.Kind == kind && l.Field == "id" {
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
