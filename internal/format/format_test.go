package format

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // for its schema
	"github.com/xeipuuv/gojsonschema"
)

var about = About{Version: "1.2.3", Dir: "/work dir", Rules: []Rule{
	{"torn-tail", "loses", "the file ends inside a record", "What it means.", "framing"},
	{"blank-line", "notes", "a line is blank", "What it means.", "framing"},
}}

// hostile has all that a file's name or a finding may hold to break a format.
const hostile = "a,b:c%d\n::error::\x1b[2J\u202e\"<&>\x00'"

func sessions() []*Session {
	return []*Session{
		{Path: "/work dir/s #1.jsonl", Findings: []Finding{
			{Path: "/work dir/s #1.jsonl", Line: 7, Offset: 1823, Rule: "torn-tail", Impact: "loses", Fix: "set-aside", Message: hostile, Record: "response_item/message", Source: "here", Fingerprint: "00ff", LineOffset: 1800, LineSize: 90, Fails: true},
			{Path: "/work dir/s #1.jsonl", Line: 1, Rule: "blank-line", Impact: "notes", Fix: "exact", Message: "blank line", Count: 3, Fingerprint: "01ff", LineSize: 1, Note: true},
			{Path: "/work dir/s #1.jsonl", Rule: "blank-line", Impact: "loses", Fix: "none", Message: "of the file", Fingerprint: "02ff"},
		}},
		{Path: "healthy.jsonl"},
		{Path: "/elsewhere/" + hostile, Err: errors.New("gone: " + hostile)},
	}
}

func written(t *testing.T, name string, list []*Session) string {
	t.Helper()
	var out bytes.Buffer
	p := New(name, &out, about)
	for _, s := range list {
		if err := p.Session(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sarifModule holds the schema of SARIF 2.1.0, errata 01, word for word as a constant of its own.
const sarifModule = "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

// officialSchema reads the schema where Go keeps the module: a copy of it here would come under its makers' terms.
func officialSchema(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", sarifModule).Output()
	if err != nil {
		t.Fatalf("looking for %s: %v", sarifModule, err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	value := file.Scope.Lookup("schema").Decl.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
	schema, err := strconv.Unquote(value)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSARIF(t *testing.T) {
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(officialSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) []gojsonschema.ResultError {
		result, err := schema.Validate(gojsonschema.NewStringLoader(text))
		if err != nil {
			t.Fatal(err)
		}
		return result.Errors()
	}
	for _, list := range [][]*Session{nil, {{Path: "healthy.jsonl"}}, sessions()} {
		text := written(t, "sarif", list)
		if faults := valid(text); len(faults) > 0 {
			t.Errorf("%v\n%s", faults, text)
		}
		for good, wrong := range map[string]string{`"startLine":7`: `"startLine":0`, `"uriBaseId":`: `"uriBase":`} { // it is a schema that tells
			bad := strings.NewReplacer(good, wrong).Replace(text)
			if bad != text && len(valid(bad)) == 0 {
				t.Errorf("the schema takes %s", wrong)
			}
		}
	}
}

// TestSARIFPlaces checks what a viewer needs to find the place.
func TestSARIFPlaces(t *testing.T) {
	var log sarifLog
	if err := json.Unmarshal([]byte(written(t, "sarif", sessions())), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	first := run.Results[0].Locations[0].Physical
	if first.Artifact.URI != "s%20%231.jsonl" || first.Artifact.Base != "%SRCROOT%" {
		t.Errorf("artifact %+v", first.Artifact)
	}
	if first.Region.Line != 7 || *first.Region.Offset != 1800 || first.Region.Length != 90 {
		t.Errorf("region %+v", first.Region)
	}
	if r := run.Results[2].Locations[0].Physical.Region; r != nil {
		t.Errorf("a finding about the whole file has the region %+v", r)
	}
	if got := run.Results[0].Prints; got["histFinding/v2"] != "00ff" {
		t.Errorf("fingerprints %v", got)
	}
	if got := run.Results[1].Message.Text; got != "blank line (3 times, this is the first)" {
		t.Errorf("message %q", got)
	}
	if l := []string{run.Results[0].Level, run.Results[1].Level}; !slices.Equal(l, []string{"error", "note"}) {
		t.Errorf("levels %v", l)
	}
	inv := run.Invocations[0]
	if inv.Successful || !strings.HasPrefix(inv.Notifications[0].Locations[0].Physical.Artifact.URI, "file:///elsewhere/") {
		t.Errorf("invocation %+v", inv)
	}
}

func TestJUnit(t *testing.T) {
	var got struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	text := written(t, "junit", sessions())
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var counts [][4]int
	for _, s := range got.Suites {
		if len(s.Cases) != s.Tests {
			t.Errorf("%s: %d cases, says %d", s.Name, len(s.Cases), s.Tests)
		}
		counts = append(counts, [4]int{s.Tests, s.Failures, s.Errors, s.Skipped})
	}
	if want := [][4]int{{3, 1, 0, 2}, {1, 0, 0, 0}, {1, 0, 1, 0}}; !reflect.DeepEqual(counts, want) {
		t.Errorf("tests, failures, errors, skipped: %v, want %v", counts, want)
	}
	if want := "blank line (3 times, this is the first)"; got.Suites[0].Cases[1].Skipped.Message != want {
		t.Errorf("message %q, want %q", got.Suites[0].Cases[1].Skipped.Message, want)
	}
	if strings.ContainsAny(text, "\x00\x1b") {
		t.Error("a control character of a file's stands in the XML")
	}
	empty := written(t, "junit", nil)
	if err := xml.Unmarshal([]byte(empty), &got); err != nil {
		t.Errorf("without sessions: %v\n%s", err, empty)
	}
}

// TestGitHub checks that nothing in a file can end a command or begin another.
func TestGitHub(t *testing.T) {
	text := written(t, "github", sessions())
	want := []string{
		"::error file=s #1.jsonl,line=7,title=hist%3A torn-tail::a,b:c%25d%0A::error::·[2J·\"<&>·'%0Aloses; fix: set-aside",
		"::notice file=s #1.jsonl,line=1,title=hist%3A blank-line::blank line (3 times, this is the first)%0Anotes; fix: exact",
		"::warning file=s #1.jsonl,title=hist%3A blank-line::of the file%0Aloses; fix: none",
		"::error file=/elsewhere/a%2Cb%3Ac%25d·%3A%3Aerror%3A%3A·[2J·\"<&>·',title=hist::gone: a,b:c%25d%0A::error::·[2J·\"<&>·'",
	}
	if got := strings.Split(strings.TrimSuffix(text, "\n"), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", text, strings.Join(want, "\n"))
	}
}

// TestJSON checks that one document holds what the lines hold.
func TestJSON(t *testing.T) {
	var doc struct {
		documentHead
		Sessions []documentSession `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(written(t, "json", sessions())), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != Schema || doc.Version != "1.2.3" || len(doc.Sessions) != 3 || doc.Sessions[2].Error == "" || doc.Sessions[1].Findings == nil {
		t.Errorf("%+v", doc)
	}
	var lines []Finding
	for line := range strings.Lines(written(t, "jsonl", sessions())) {
		var f Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, f)
	}
	if !reflect.DeepEqual(lines, doc.Sessions[0].Findings) {
		t.Errorf("lines %+v\ndocument %+v", lines, doc.Sessions[0].Findings)
	}
	if text := written(t, "json", nil); !json.Valid([]byte(text)) {
		t.Errorf("without sessions: %s", text)
	}
}
