package repair

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

var update = flag.Bool("update", false, "rewrite the golden files in fixtures")

// TestRuleFixtures repairs every damaged fixture and compares the copy with its golden file. The laws of repair hold
// for each: what is left is only what has no fix, and a second repair changes nothing.
func TestRuleFixtures(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../fixtures/*/rules/*/bad*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	for _, path := range paths {
		stem := strings.TrimSuffix(path, ".jsonl")
		opts, ok := fixtureOptions(t, stem)
		if !ok {
			continue
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(stem), "../fixtures/"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if base, err := os.ReadFile(stem + ".name"); err == nil {
				name = strings.TrimSpace(string(base))
			}
			opts.Name = lint.NameOf(name, false)
			repaired, _, err := repairAs(text, opts, Choice{})
			if err != nil {
				t.Fatal(err)
			}
			left, err := lint.Session(t.Context(), bytes.NewReader(repaired), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left.Findings {
				if (Choice{}).Allows(&f) && f.Rename == "" {
					t.Errorf("the copy still has %s on line %d: %s", f.Rule.Name, f.Pos.Line, f.Message)
				}
			}
			again, _, err := repairAs(repaired, opts, Choice{})
			if err != nil || !bytes.Equal(repaired, again) {
				t.Errorf("a second repair changes the copy (%v)", err)
			}
			golden(t, stem+".repaired", repaired)
		})
	}
}

// fixtureOptions reads the flags that belong to a fixture. Some are conditions of lint's own that no repair meets, such
// as a broken stream: then it is not ok.
func fixtureOptions(t *testing.T, stem string) (opts lint.Options, ok bool) {
	t.Helper()
	text, err := os.ReadFile(stem + ".flags")
	if err != nil {
		return opts, true
	}
	flags := strings.Fields(string(text))
	for i := 0; i < len(flags); i++ {
		switch flags[i] {
		case "--strip-encrypted":
			opts.StripEncrypted = true
		case "--keep-orphans":
			opts.KeepOrphans = true
		case "--for-codex":
			i++
			opts.For = map[string]string{"codex": flags[i]}
		case "--provider":
			i++
			opts.Provider = flags[i]
		case "--for-claude":
			i++
			opts.For = map[string]string{"claude": flags[i]}
		case "--branch":
			i++
			opts.Branch = flags[i]
		case "--chain-parallel":
			opts.ChainParallel = true
		case "--sibling-version":
			i++
			version := flags[i]
			opts.SiblingVersion = func() string { return version }
		default:
			return opts, false
		}
	}
	return opts, true
}

// golden compares with a golden file; there is none where the repair changes nothing.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	bad, err := os.ReadFile(strings.TrimSuffix(path, ".repaired") + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if bytes.Equal(got, bad) {
			err = os.RemoveAll(path)
		} else {
			err = os.WriteFile(path, got, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		want = bad
	} else if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: the repaired session is another now:\n%s", path, got)
	}
}

// TestOnlyAndTidy limits what a repair may do, and extends it.
func TestOnlyAndTidy(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		choice  Choice
		changed bool
	}{
		{"stand-ins", Choice{Only: []lint.Fix{lint.StandIn}}, true},
		{"no stand-ins", Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}, false},
		{"another rule", Choice{Rules: []string{"crlf"}}, false},
	} {
		out, rep, err := repairText(text, "", c.choice)
		if err != nil || bytes.Equal(out, text) == c.changed {
			t.Errorf("%s: changed: %v, %v", c.name, !bytes.Equal(out, text), err)
		}
		if rep.Unrepaired() == c.changed {
			t.Errorf("%s: unrepaired: %v", c.name, rep.Unrepaired())
		}
	}
	crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	out, _, err := repairText(crlf, "", Choice{Tidy: true})
	if err != nil || bytes.Contains(out, []byte("\r")) {
		t.Errorf("--tidy leaves CR LF (%v)", err)
	}
}

// TestHolesStay: what a limited repair leaves lost can be found again, and mended by the next one.
func TestHolesStay(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/rules/lost-message/bad*.jsonl")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err := repairText(text, "", Choice{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Choice{
			{Only: []lint.Fix{lint.SetAside}}, {Rules: []string{"bad-json"}}, {Rules: []string{"ordinal-gap"}}, {Only: []lint.Fix{lint.Exact}, Tidy: true},
		} {
			some, rep, err := repairText(text, "", c)
			if err != nil || !rep.Unrepaired() {
				t.Fatalf("%s: %+v: %v, unrepaired: %v", path, c, err, rep.Unrepaired())
			}
			if again, _, err := repairText(some, "", Choice{}); err != nil || !bytes.Equal(again, whole) {
				t.Errorf("%s: after %+v the whole repair makes another session (%v):\n%s", path, c, err, again)
			}
		}
	}
}
