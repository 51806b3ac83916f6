package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/testkit"
)

// referenceDepth is where encoding/json gives up.
const referenceDepth = 10000

// check compares one scan with encoding/json, unicode/utf8 and gjson.
func check(s *Scanner, spans []Span, line []byte) error {
	v := s.Scan(line, spans)
	if v.Depth >= referenceDepth {
		return nil
	}
	grammar, text := json.Valid(line), utf8.Valid(line)
	want := grammar && text
	if (v.Fault == None) != want {
		return fmt.Errorf("fault %v at %d, reference says %v", v.Fault, v.At, want)
	}
	if (v.Fault == NotUTF8) != (grammar && !text) {
		return fmt.Errorf("fault %v at %d, but grammar %v, UTF-8 %v", v.Fault, v.At, grammar, text)
	}
	switch v.Fault {
	case None:
		if v.At != 0 {
			return fmt.Errorf("no fault at %d", v.At)
		}
	case Truncated:
		if v.At != len(line) {
			return fmt.Errorf("truncated at %d of %d", v.At, len(line))
		}
	case Trailing:
		if !json.Valid(clean(line[:v.At])) || v.At >= len(line) {
			return fmt.Errorf("no value before the rest at %d", v.At)
		}
	case Control:
		if line[v.At] >= ' ' || !json.Valid(clean(line)) {
			return fmt.Errorf("control character at %d is not all", v.At)
		}
	case Syntax:
		if json.Valid(clean(line)) {
			return fmt.Errorf("syntax fault at %d in what is valid without control characters", v.At)
		}
		// What stands before the fault can still become JSON: the same bytes
		// cut there are a truncated line or a whole value.
		if p := s.Scan(append([]byte(nil), line[:v.At]...), spans); p.Fault == Syntax {
			return fmt.Errorf("syntax fault at %d, without it at %d", v.At, p.At)
		}
		return nil
	case NotUTF8:
		if !utf8.Valid(line[:v.At]) || utf8.Valid(line[:min(v.At+4, len(line))]) {
			return fmt.Errorf("first bad byte is not at %d", v.At)
		}
	}
	if v.Fault != None {
		return nil
	}
	if v.Object != (line[space(line, 0)] == '{') {
		return fmt.Errorf("object: %v", v.Object)
	}
	for i, p := range wanted {
		deep := strings.Count(p, ".") >= duplicateDepth
		raw := string(spans[i].Of(line))
		if raw != "" && !json.Valid([]byte(raw)) {
			return fmt.Errorf("%s is %q", p, raw)
		}
		if v.Duplicate >= 0 || deep && v.Depth > duplicateDepth {
			continue // gjson takes the first of two
		}
		if !v.Object {
			if raw != "" {
				return fmt.Errorf("%s is %q in no object", p, raw)
			}
			continue // gjson looks into arrays
		}
		if ref := gjson.GetBytes(line, strings.ReplaceAll(p, "[0]", "0")).Raw; raw != ref {
			return fmt.Errorf("%s is %q, gjson has %q", p, raw, ref)
		}
	}
	return checkVerdict(line, v)
}

// clean replaces control characters by letters where they may be in a string.
func clean(line []byte) []byte {
	line = append([]byte(nil), line...)
	in := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			in = !in
		case c == '\\' && in:
			i++
		case c < ' ' && in:
			line[i] = 'x'
		}
	}
	return line
}

// loneSurrogate matches what follows backslashes; its group is a surrogate that
// is no part of a pair.
var loneSurrogate = regexp.MustCompile(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|(\\u[dD][89a-fA-F][[:xdigit:]]{2})|\\.`)

// checkVerdict compares the rest of the verdict on a healthy line with what the
// tokens of encoding/json give.
func checkVerdict(line []byte, v Verdict) error {
	surrogate := -1
	for _, m := range loneSurrogate.FindAllSubmatchIndex(line, -1) {
		if m[2] >= 0 {
			surrogate = m[2]
			break
		}
	}
	if v.Surrogate != surrogate {
		return fmt.Errorf("lone surrogate at %d, want %d", v.Surrogate, surrogate)
	}

	type object struct {
		keys map[string]bool // nil in an array
		key  bool            // the next token is a key
		path string          // of the object, as in wanted
		at   string          // of the value in hand
		n    int             // how many values of an array came
	}
	var open []object
	depth, dup, dupDepth := 0, -1, 0
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		var top *object
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch {
		case tok == json.Delim('}') || tok == json.Delim(']'):
			open = open[:len(open)-1]
			continue
		case top != nil && top.key:
			name := tok.(string)
			if top.keys[name] && dup < 0 && (len(open) <= duplicateDepth || wantedBelow(top.path)) {
				dup, dupDepth = int(dec.InputOffset()), len(open)
			}
			top.keys[name], top.key, top.at = true, false, name
			continue
		case top != nil && top.keys != nil:
			top.key = true
		}
		path := ""
		if top != nil {
			if top.keys == nil {
				top.at = fmt.Sprintf("[%d]", top.n)
				top.n++
			}
			path = strings.TrimPrefix(top.path+"."+top.at, ".")
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, object{keys: map[string]bool{}, key: true, path: path})
		case json.Delim('['):
			open = append(open, object{path: path})
		}
		depth = max(depth, len(open))
	}
	if v.Depth != depth {
		return fmt.Errorf("depth %d, want %d", v.Depth, depth)
	}
	if surrogate >= 0 {
		return nil // keys decoded by encoding/json say too little
	}
	if dup >= 0 && v.Duplicate >= 0 {
		if _, ok := Unquote(line[v.Duplicate:dup]); ok {
			dup = v.Duplicate // both mean the key that ends at dup
		}
	}
	if v.Duplicate != dup || v.DuplicateDepth != dupDepth {
		return fmt.Errorf("duplicate key at %d in depth %d, want %d in %d", v.Duplicate, v.DuplicateDepth, dup, dupDepth)
	}
	return nil
}

// wantedBelow says whether something in an object is wanted.
func wantedBelow(path string) bool {
	return slices.ContainsFunc(wanted[:], func(p string) bool { return strings.HasPrefix(p, path+".") })
}

// TestMutants breaks healthy lines at random. HIST_MUTANTS sets how many
// mutants are tried.
func TestMutants(t *testing.T) {
	n := testkit.Times(300_000, 4)
	if v := os.Getenv("HIST_MUTANTS"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	s := NewScanner(mustCompile(wanted...))
	spans := make([]Span, len(wanted))
	faults := map[Fault]int{}
	for i := range n {
		line := mutate(r, []byte(seedLines[i%len(seedLines)]))
		if err := check(s, spans, line); err != nil {
			t.Fatalf("mutant %d: %q: %v", i, line, err)
		}
		faults[s.Scan(line, spans).Fault]++
	}
	for f := None; f <= Syntax; f++ {
		if faults[f] == 0 && f != Blank {
			t.Errorf("no mutant had the fault %v", f)
		}
	}
	t.Log(faults)
}

// TestExperience: what a scanner says of a line does not hang on the lines that it has seen.
func TestExperience(t *testing.T) {
	shape := mustCompile(wanted...)
	old, spans := NewScanner(shape), make([]Span, len(wanted))
	r := rand.New(rand.NewPCG(7, 7))
	hits := 0
	lines := append(slices.Clone(seedLines), `{"type":1,"type":2,"payload":{"id":3,"item":{"id":4,"deep":{"er":5,"er":6}},"id":7}}`,
		`{"payload":{"content":[{"text":"a","text":"b"},{"text":"c"}],"content":[{"text":[{"text":1,"text":2}]}]},"payload":{"id":8}}`,
		`{"payload":[[{"a":1,"b":2},{"b":1,"b":2}],{"a":{"b":{"c":1,"c":2}}}],"type":"x","\u0074ype":"y"}`)
	for i := range 30_000 {
		line := []byte(lines[r.IntN(len(lines))])
		if i%3 > 0 {
			line = mutate(r, line)
		}
		if i%5 == 0 { // another order of keys
			line = bytes.Replace(line, []byte(`"type"`), fmt.Appendf(nil, `"key%d":%d,"type"`, r.IntN(99), i), 1)
		}
		fresh, ordinary := NewScanner(shape), make([]Span, len(wanted))
		fresh.templates = &templates{stretches: mostStretches} // it learns nothing
		want := fresh.Scan(line, ordinary)
		if got := old.Scan(line, spans); got != want || !slices.Equal(spans, ordinary) {
			t.Fatalf("%s\n%+v %v\nwant\n%+v %v", line, got, spans, want, ordinary)
		}
		if old.begin(); old.retrace(line, space(line, 0)) >= 0 {
			hits++
		}
		if i%10_000 == 0 {
			old.Done()
			old = NewScanner(shape)
		}
	}
	if hits < 1000 {
		t.Errorf("only %d lines went a way known", hits)
	}
}
