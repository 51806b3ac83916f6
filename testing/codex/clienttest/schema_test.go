package clienttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// schema is the part of a JSON schema that names variants and fields.
type schema struct {
	Definitions map[string]schema `json:"definitions"`
	Ref         string            `json:"$ref"`
	OneOf       []schema          `json:"oneOf"`
	AnyOf       []schema          `json:"anyOf"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Enum        []any             `json:"enum"`
}

func (s *schema) UnmarshalJSON(text []byte) error {
	type plain schema
	if text[0] != '{' { // true: any value
		return nil
	}
	return json.Unmarshal(text, (*plain)(s))
}

// TestLinesPage compares the page on the lines that the newest client writes with the schema that it prints of them: a new variant or field shows
// as a difference. With -update the page is written.
func TestLinesPage(t *testing.T) {
	bin, err := Find(Newest)
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), bin.Path, "app-server", "generate-internal-json-schema", "--out", dir)
	cmd.Env = []string{"HOME=" + dir, "CODEX_HOME=" + dir, "PATH=" + strings.Join(append(slices.Clone(bin.Extra), os.Getenv("PATH")), string(os.PathListSeparator))}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "RolloutLine.json"))
	if err != nil {
		t.Fatal(err)
	}
	var of schema
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The lines that Codex writes\n\nWhat `codex app-server generate-internal-json-schema` of %s says of a line of a session. A field in bold is required. A test makes this page\nfrom the newest client that is known.\n\n## Lines\n\n", Newest)
	of.variants(&b, of.OneOf)
	for _, one := range []struct{ heading, name string }{{"Items (`response_item`)", "ResponseItem"}, {"Events (`event_msg`)", "EventMsg"}} {
		fmt.Fprintf(&b, "\n## %s\n\n", one.heading)
		of.variants(&b, of.Definitions[one.name].OneOf)
	}
	page := filepath.Join("..", "..", "..", "docs", "dev", "codex-lines.md")
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(told) != b.String() {
		t.Errorf("%s is not what %s says; run with -update and read the difference. It says:\n%s", page, Newest, b.String())
	}
}

// variants writes a line for each variant: its type and its fields.
func (s *schema) variants(b *strings.Builder, all []schema) {
	var lines []string
	for _, v := range all {
		names := []string{}
		for name := range maps.Keys(v.Properties) {
			if name == "type" || name == "payload" {
				continue
			}
			if slices.Contains(v.Required, name) {
				name = "**" + name + "**"
			}
			names = append(names, name)
		}
		if payload, ok := v.Properties["payload"]; ok {
			for name := range s.Definitions[strings.TrimPrefix(payload.Ref, "#/definitions/")].Properties {
				names = append(names, "payload."+name)
			}
		}
		slices.Sort(names)
		for _, typ := range v.Properties["type"].Enum {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("- `%v`: %s", typ, strings.Join(names, ", ")), ": ")+"\n")
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}
