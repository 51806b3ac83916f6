package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

// TestDamageMatrix damages every clean recording in every way: lint names the damage, repair mends it, and what the
// model would be sent is what it was, but for what nothing in the file tells any more. A sample of the ways is tried, another of each.
func TestDamageMatrix(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, scenario := range []string{"clean", "tools", "code"} {
		found, err := filepath.Glob("../fixtures/codex/*/" + scenario + "/rollout-*.jsonl")
		if err != nil || len(found) == 0 {
			t.Fatalf("no recordings of %s: %v", scenario, err)
		}
		paths = append(paths, found...)
	}
	for i, path := range paths {
		scenario := filepath.Dir(path)
		name := filepath.Base(filepath.Dir(scenario)) + "/" + filepath.Base(scenario)
		clean, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases := damage.Cases(clean)
		if name == "0.169.0/tools" || name == "0.114.0/clean" { // with ordinals and without them
			cases = testkit.Sample(cases, 4, i)
		} else {
			cases = testkit.Sample(cases, 20, i)
		}
		for _, c := range cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) { checkCase(t, c, clean, filepath.Base(path)) })
		}
	}
}

func checkCase(t *testing.T, c damage.Case, clean []byte, name string) {
	found := lintText(t, c.Data, name)
	if !slices.ContainsFunc(found.Findings, func(f lint.Finding) bool { return f.Rule.Name == c.Rule }) {
		t.Errorf("lint does not name %s:\n%s", c.Rule, listed(found))
	}
	repaired, rep, err := repairText(c.Data, name, Choice{})
	if err != nil {
		t.Fatalf("repair: %v\n%s", err, listed(found))
	}
	if c.Dead {
		if !rep.Unrepaired() {
			t.Error("the report says that all is well")
		}
		return
	}
	if rep.Unrepaired() {
		t.Errorf("left as it is: %+v", rep.Left)
	}
	for _, f := range lintText(t, repaired, name).Findings {
		if f.Impact != lint.Notes {
			t.Errorf("the copy still has %s on line %d: %s", f.Rule.Name, f.Pos.Line, f.Message)
		}
	}
	again, _, err := repairText(repaired, name, Choice{})
	if err != nil || !bytes.Equal(repaired, again) {
		t.Errorf("a second repair changes the copy (%v)", err)
	}
	compare(t, c, items(clean), items(repaired))
	if h := rep.History; h.Before > h.After || h.After > h.Items {
		t.Errorf("history figures: %+v", h)
	}
}

// compare wants every item of the clean history in the copy, in its order, less those that are lost for good.
func compare(t *testing.T, c damage.Case, clean, got []string) {
	t.Helper()
	var missing []string
	rest := slices.Clone(got)
	for _, item := range clean {
		if i := slices.Index(rest, item); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		missing = append(missing, item)
	}
	if c.Lost >= 0 && len(missing) != c.Lost || c.Lost < 0 && len(missing) > 2 {
		t.Errorf("missing %q, want %d lost", missing, c.Lost)
	}
	if len(rest) > 0 {
		t.Errorf("invented: %q", rest)
	}
	if !c.Beside && !within(clean, got) {
		t.Errorf("order changed:\n got %q\nwant %q", got, clean)
	}
}

// within says whether got, but for what is not in clean, is clean with some items left out.
func within(clean, got []string) bool {
	at := 0
	for _, item := range got {
		if !slices.Contains(clean, item) {
			continue
		}
		n := slices.Index(clean[at:], item)
		if n < 0 {
			return false
		}
		at += n + 1
	}
	return true
}

// items is the model's history of a session without compactions: an independent reading, by kind, id and role. The
// words are compared by the first ones, since a damaged text keeps its start.
func items(text []byte) []string {
	var out []string
	for _, raw := range bytes.Split(text, []byte("\n")) {
		var r struct {
			Type    string
			Payload struct {
				Type    string
				Role    string
				Name    string
				Input   string
				CallID  string `json:"call_id"`
				Content []struct{ Text string }
			}
		}
		if json.Unmarshal(bytes.TrimSuffix(raw, []byte("\r")), &r) != nil || r.Type != "response_item" {
			continue
		}
		if r.Payload.Role == "developer" && len(r.Payload.Content) > 0 && (strings.HasPrefix(r.Payload.Content[0].Text, "[hist: your reasoning") || strings.HasPrefix(r.Payload.Content[0].Text, "[hist: records of this session are lost")) {
			continue // the summary of reasoning that stays lost, which counts as missing, or what stands for records that are
		}
		if r.Payload.Name == "lost_call" || strings.HasPrefix(r.Payload.Input, "[hist: ") {
			continue // the call of an output that is left alone: it counts as missing
		}
		item := strings.Join([]string{r.Payload.Type, r.Payload.Role, r.Payload.CallID}, " ")
		out = append(out, item)
	}
	return out
}

func lintText(t *testing.T, text []byte, name string) *lint.Result {
	t.Helper()
	res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Name: lint.NameOf(name, false)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// repairText repairs a session to a stream, as `hist repair --output -` does.
func repairText(text []byte, name string, choice Choice) ([]byte, *Report, error) {
	return repairAs(text, lint.Options{Name: lint.NameOf(name, false)}, choice)
}

func listed(res *lint.Result) string {
	var b strings.Builder
	for i := range res.Findings {
		f := &res.Findings[i]
		b.WriteString(f.Pos.String() + ": " + f.Rule.Name + ": " + f.Message + "\n")
	}
	return b.String()
}

// TestHealthyIsUntouched writes the same bytes for every session that nothing is wrong with.
func TestHealthyIsUntouched(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"codex/*/clean/*.jsonl", "codex/*/compact/*.jsonl", "codex/*/tools/*.jsonl", "codex/*/code/*.jsonl", "codex/*/fork*/*.jsonl", "codex/healthy/*/session.jsonl"} {
		found, err := filepath.Glob(filepath.Join("../fixtures", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: nothing found (%v)", pattern, err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		if strings.Contains(path, "/live-") {
			continue // healthy only while somebody writes them
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, rep, err := repairText(text, "", Choice{})
		if err != nil || !bytes.Equal(out, text) || len(rep.Edits) > 0 {
			t.Errorf("%s: a healthy session is changed (%v): %+v", path, err, rep)
		}
	}
}

// TestRecordedDamage repairs every recording of a killed, cut or interrupted client: nothing is left but notes, and a
// second repair changes nothing.
func TestRecordedDamage(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/*/*/rollout-*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, rep, err := repairText(text, filepath.Base(path), Choice{})
		if err != nil || rep.Unrepaired() {
			t.Errorf("%s: %v: %+v", path, err, rep)
			continue
		}
		for _, f := range lintText(t, out, filepath.Base(path)).Findings {
			if f.Impact != lint.Notes {
				t.Errorf("%s: the copy still has %s on line %d", path, f.Rule.Name, f.Pos.Line)
			}
		}
		if again, _, err := repairText(out, filepath.Base(path), Choice{}); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: a second repair changes the copy (%v)", path, err)
		}
	}
}
