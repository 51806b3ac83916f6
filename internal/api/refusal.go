package api

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Refusal is a text with which an API, a gateway or a client refuses a request. Found is empty in the table.
type Refusal struct {
	Row     int // in testing/api/errors.tsv
	API     string
	Pattern string
	needles []string // texts in lower case of which each match holds one; nil if that is not known
	Meaning string   // in plain words
	// Map says what the text names: 'A' the item input[N], 'B' the block messages.N.content.M, 'C' an id, 'D' a place in the
	// request's bytes, 'E' nothing, so that all items are looked at, 'T' nothing of the session.
	Map     byte
	Mend    string // the kind of what helps: see Way
	Example string

	Found
}

// Found is what one text says beyond what its Refusal means.
type Found struct {
	Words string // the part of the text by which it was recognised
	Line  string // the line of the text that it was found in
	Times int    // how often the text says the same
	// Message and Block are the item's place in the request, as session.Item has them, -1 if the text names none; Inner is the
	// block within a tool's output.
	Message, Block, Inner int
	Field                 string   // the path in the item, "" if the text names none
	IDs                   []string // the ids, the tool or the type that the text names
	Wanted                string   // the id of what has to stand in front of the first of them, "" if the text names none
	Most                  int      // how many images a request may hold beside its documents, or a list elements; 0 if the text says nothing of it
}

// compiled are the patterns of refusals, each compiled when a text may match it: few runs meet one.
var compiled = make([]atomic.Pointer[regexp.Regexp], len(refusals))

// pattern is that of a row of the table if a line, given in lower case, may match it, else nil. Clients write some texts in other letters.
func pattern(i int, line string) *regexp.Regexp {
	r := &refusals[i]
	if len(r.needles) > 0 && !slices.ContainsFunc(r.needles, func(needle string) bool { return strings.Contains(line, needle) }) {
		return nil
	}
	p := compiled[i].Load()
	if p == nil {
		p = regexp.MustCompile("(?i)" + r.Pattern)
		compiled[i].Store(p)
	}
	return p
}

// maxText is how much of the beginning and of the end of a text is looked at, in bytes: logs are long, errors are not.
const maxText = 128 << 10

// Explain recognises the refusals in a text: the error alone, wrapped in JSON any number of times, or a log with several. They are
// in the order of the text; what it says again only counts.
func Explain(text string) (found []Refusal) {
	if len(text) > 2*maxText {
		text = text[:maxText] + "\n" + text[len(text)-maxText:]
	}
	lines := strings.Split(unwrapped(text), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		r := recognise(line)
		if r == nil {
			continue
		}
		r.place(line)
		if r.Message < 0 && (r.Map == 'A' || r.Map == 'B') { // JSON over several lines has it in another member
			for _, near := range lines[max(0, i-near):min(len(lines), i+near)] {
				if strings.Contains(near, `"param"`) && r.Message < 0 {
					r.place(near)
					r.Line += " " + strings.TrimSpace(near)
				}
			}
		}
		if same := slices.IndexFunc(found, func(o Refusal) bool { return r.Same(&o) }); same >= 0 {
			found[same].Times++
			continue
		}
		found = append(found, *r)
	}
	if len(lines) > 1 && len(text) <= maxBroken && !slices.ContainsFunc(found, Refusal.placed) {
		if r := rejoined(lines); r != nil && r.specific() {
			found = append(slices.DeleteFunc(found, func(o Refusal) bool { return o.Row == r.Row }), *r)
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); len(found) == 0 && last != "" {
		if r := cutOff(last); r != nil {
			found = append(found, *r)
		}
	}
	return slices.DeleteFunc(found, func(r Refusal) bool {
		return r.vague() && slices.ContainsFunc(found, Refusal.exact) ||
			!r.specific() && slices.ContainsFunc(found, func(o Refusal) bool { return o.specific() && o.Message == r.Message })
	})
}

// maxBroken is up to how many bytes a text may be one error that a terminal has broken into lines.
const maxBroken = 16 << 10

// rejoined is the refusal in lines that were one before a terminal broke it, in the middle of a word or at a space, which then is gone; nil if
// there is none.
func rejoined(lines []string) *Refusal {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimSpace(line))
	}
	line := b.String()
	lower := unspaced(strings.ToLower(line))
	for i := range refusals {
		r := &refusals[i]
		if len(r.needles) > 0 && !slices.ContainsFunc(r.needles, func(needle string) bool { return strings.Contains(lower, unspaced(needle)) }) {
			continue
		}
		p := regexp.MustCompile("(?i)" + strings.ReplaceAll(r.Pattern, " ", `\s*`))
		if m := p.FindStringSubmatchIndex(line); m != nil {
			found := r.in(line, p, m)
			found.place(line)
			return found
		}
	}
	return nil
}

func unspaced(text string) string { return strings.ReplaceAll(text, " ", "") }

// near is how many lines before and behind an error's message the other members of its JSON may stand.
const near = 5

// Newest is the refusal of several that says most of the session: the last one that does not pass by itself, else the last one; nil if
// there is none.
func Newest(found []Refusal) *Refusal {
	for i := len(found) - 1; i >= 0; i-- {
		if found[i].Lasts() {
			return &found[i]
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &found[len(found)-1]
}

// recognise is the first refusal whose pattern a line matches; nil if none does.
func recognise(line string) *Refusal {
	lower := strings.ToLower(line)
	for i := range refusals {
		p := pattern(i, lower)
		if p == nil {
			continue
		}
		m := p.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		return refusals[i].in(line, p, m)
	}
	return nil
}

// in is the refusal as a line holds it, given what its pattern matches there.
func (r Refusal) in(line string, p *regexp.Regexp, m []int) *Refusal {
	r.Words, r.Line, r.Times = line[m[0]:m[1]], line, 1
	r.Message, r.Block, r.Inner = -1, -1, -1
	if r.Mend == "images" || r.Mend == "parts" {
		r.Most = max(0, numbered(p, line, "max")-numbered(p, line, "pages")-numbered(p, line, "docs"))
	}
	if k := p.SubexpIndex("want"); k >= 0 && r.Mend == "order" && m[2*k] >= 0 {
		r.Wanted = line[m[2*k]:m[2*k+1]]
	}
	for k, name := range p.SubexpNames() {
		if name != "id" && name != "type" && name != "v" && name != "head" || m[2*k] < 0 {
			continue
		}
		for id := range strings.SplitSeq(line[m[2*k]:m[2*k+1]], ",") {
			r.IDs = append(r.IDs, strings.TrimRight(strings.TrimSpace(id), ".'\"`"))
		}
	}
	return &r
}

// numbered is the number in a group of a pattern, 0 if a line has none.
func numbered(p *regexp.Regexp, line, group string) int {
	i := p.SubexpIndex(group)
	if i < 0 {
		return 0
	}
	return max(0, number(p.FindStringSubmatch(line)[i]))
}

// leastStart is from how many characters on the beginning of a text tells which one it is.
const leastStart = 20

// cutOff is the refusal of which a line, that was cut off, holds only the beginning: that of its example. It is nil if none does, or if several
// do that different things help against.
func cutOff(line string) (one *Refusal) {
	start := plainWords(strings.TrimRight(line, ".… "))
	start = start[:max(0, strings.LastIndexByte(start, ' '))] // the last word may not be whole
	for i := range refusals {
		example := plainWords(refusals[i].Example)
		if len(example) < leastStart || len(start) < leastStart {
			continue
		}
		at := strings.Index(start, example[:leastStart])
		if at < 0 || !strings.HasPrefix(example, start[at:]) {
			continue
		}
		if one != nil && one.Mend != refusals[i].Mend {
			return nil
		}
		if one == nil {
			r := refusals[i]
			r.Words, r.Line, r.Times, r.Message, r.Block, r.Inner = line, line, 1, -1, -1, -1
			one = &r
		}
	}
	return one
}

// named are the words of a text that are different each time: ids, numbers and what stands in quotes.
var named = regexp.MustCompile("'[^']*'|\"[^\"]*\"|\\w*\\d\\w*")

// plainWords is a text in lower case, without such words.
func plainWords(text string) string { return strings.ToLower(named.ReplaceAllString(text, "#")) }

// vague says whether a refusal was recognised by its form alone, exact whether it was not, specific whether it tells more than a place, and
// placed whether it also tells its place, if it has one.
func (r Refusal) vague() bool    { return r.Mend == "unsaid" || r.Mend == "silent" || r.Mend == "nul" }
func (r Refusal) exact() bool    { return r.Lasts() && !r.vague() }
func (r Refusal) specific() bool { return r.exact() && r.Mend != "path" }
func (r Refusal) placed() bool {
	return r.specific() && (r.Message >= 0 || r.Map != 'A' && r.Map != 'B')
}

// Same says whether another refusal is about the same.
func (r *Refusal) Same(o *Refusal) bool {
	return r.Row == o.Row && r.Message == o.Message && r.Block == o.Block && r.Inner == o.Inner && r.Field == o.Field && slices.Equal(r.IDs, o.IDs)
}

var (
	inputPath   = regexp.MustCompile(`\binput(?:\[(\d{1,9})\]|\.(?:list\[[^\]]*\]\.)?(\d{1,9})\b)((?:\.\w+|\[\d+\])*)`)
	messagePath = regexp.MustCompile(`\bmessages(?:\.(\d{1,9})|\[(\d{1,9})\]| index (\d{1,9}))(?:\.content\.(\d{1,9}))?(?:(?:\.tool_result)?\.content\.(\d{1,9}))?((?:\.\w+)*)`)
	chatPath    = regexp.MustCompile(`(?i)\b(?:at message|input type:? ['"]\w+['"] at) index (\d{1,9})`)
	lackedField = regexp.MustCompile("(?i)missing (?:the )?required field `?(\\w+)")
)

// place reads the place in the request that a text names. The last path counts: the bracket form in front of a message says less.
func (r *Refusal) place(text string) {
	if all := inputPath.FindAllStringSubmatch(text, -1); len(all) > 0 {
		m := all[len(all)-1]
		r.Message, r.Block, r.Field = number(m[1]+m[2]), -1, strings.TrimPrefix(m[3], ".")
		if lacked := lackedField.FindStringSubmatch(text); lacked != nil && r.Field == "" {
			r.Field = lacked[1]
		}
		return
	}
	m := messagePath.FindStringSubmatch(text)
	if m == nil {
		if m := chatPath.FindStringSubmatch(text); m != nil {
			r.Message = number(m[1])
		}
		return
	}
	r.Message, r.Block, r.Inner, r.Field = number(m[1]+m[2]+m[3]), number(m[4]), number(m[5]), strings.TrimPrefix(m[6], ".")
}

// number is a number of few digits, -1 if there is none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// escapes are undone in texts that were put into JSON.
var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "", `\t`, " ", `\/`, "/", `\u0060`, "`", `\u0027`, "'", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">")

// maxWraps is how many times a text may have been put into JSON.
const maxWraps = 5

// quotes are those that editors and chats put in place of plain ones.
var quotes = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)

// unwrapped is a text without the escapes of the JSON or the page that it stands in.
func unwrapped(text string) string {
	if strings.Contains(text, "&#39;") || strings.Contains(text, "&quot;") {
		text = html.UnescapeString(text)
	}
	text = quotes.Replace(text)
	for range maxWraps {
		if !strings.Contains(text, `\"`) && !strings.Contains(text, `\u00`) && !strings.Contains(text, `\n`) {
			break
		}
		text = escapes.Replace(text)
	}
	return text
}
