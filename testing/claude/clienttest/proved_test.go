package clienttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestProved: what is written again is proved by the requests that the file tells of, where it was sent before: a prompt, a
// call among the texts of its answer, a call alone.
func TestProved(t *testing.T) {
	s, _ := recording(t, "2.1.330", "resumed")
	for _, c := range []struct{ damage, rule string }{
		{"lost_user", "lost-prompt"}, {"lost_call", "lost-call"}, {"lost_call_edit", "lost-call"},
	} {
		i := slices.IndexFunc(Damages(), func(d Damage) bool { return d.Name == c.damage })
		found := lintText(t, Damages()[i].Do(s), lint.Options{})
		if !slices.ContainsFunc(found, func(f lint.Finding) bool {
			return f.Rule.Name == c.rule && f.Fix == lint.Recovered && strings.HasSuffix(f.Source, "proved by the hash of the request")
		}) {
			t.Errorf("%s: not proved: %+v", c.damage, found)
		}
	}
}

// TestProvedAmong: the output of one of two parallel calls was sent together with the other.
func TestProvedAmong(t *testing.T) {
	s, _ := recording(t, "2.1.330", "resumed")
	i := slices.IndexFunc(Damages(), func(d Damage) bool { return d.Name == "lost_output_parallel" })
	for text, want := range map[string]string{"one": "proved by the hash of the request", "won": "tool-results/toolu_01a1.txt"} {
		path, home := lay(t, Damages()[i].Do(s))
		dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "tool-results")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "toolu_01a1.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := lint.File(t.Context(), path, lint.Options{Agent: "claude", Home: home, Name: lint.NameOf(path, true)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Findings, func(f lint.Finding) bool { return f.Rule.Name == "lost-result" && strings.HasSuffix(f.Source, want) }) {
			t.Errorf("%s: want a source that ends with %q: %+v", text, want, res.Findings)
		}
	}
}
