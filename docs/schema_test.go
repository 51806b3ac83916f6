package docs

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/hist-cli/hist/internal/preresume"
)

// TestPreResumeSchema validates the answers about all recordings and damaged fixtures against the schema, and compares
// the fields that it describes with those that there are.
func TestPreResumeSchema(t *testing.T) {
	atRoot(t)
	text := read(t, "docs/pre-resume.schema.json")
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("fixtures/*/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := filepath.Glob("fixtures/codex/*/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	asked := [][]string{{"nosuch.jsonl"}, {"--last"}, {"--error-file", "README.md", recorded[0]}, {"--show-content", recorded[0]}, {"--timeout", "1ns", recorded[0]}}
	for _, p := range append(paths, recorded...) {
		asked = append(asked, []string{p})
	}
	for _, args := range asked {
		out, _ := run(append([]string{"pre-resume", "--json"}, args...)...)
		res, err := schema.Validate(gojsonschema.NewStringLoader(out))
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		for _, e := range res.Errors() {
			t.Errorf("%v: %s\n%s", args, e, out)
		}
	}
	var described struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(text), &described); err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(preresume.Answer{})) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields = append(fields, name)
			if described.Properties[name] == nil {
				t.Errorf("the schema does not describe %s", name)
			}
		}
	}
	for name := range described.Properties {
		if !slices.Contains(fields, name) {
			t.Errorf("the schema describes %s, which no answer has", name)
		}
	}
}
