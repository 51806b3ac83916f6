package cmd

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPowerShellHasAll: what is written for PowerShell, which is not run here, has every command with every flag and value, and all of
// its brackets and quotes close.
func TestPowerShellHasAll(t *testing.T) {
	var out strings.Builder
	if code := Main([]string{"hist", "completion", "powershell"}, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatal(code, out.String())
	}
	bare := regexp.MustCompile(`'[^']*'|"[^"]*"|#.*`).ReplaceAllString(out.String(), "")
	for _, pair := range []string{"()", "{}", "[]"} {
		if opened, closed := strings.Count(bare, pair[:1]), strings.Count(bare, pair[1:]); opened != closed {
			t.Errorf("%d %s and %d %s", opened, pair[:1], closed, pair[1:])
		}
	}
	if strings.ContainsAny(bare, `'"`) {
		t.Errorf("a quote is not closed:\n%s", bare)
	}
	lists := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^    '([^']+)' = @\('(.*)'\)$`).FindAllStringSubmatch(out.String(), -1) {
		lists[m[1]] = append(lists[m[1]], strings.Split(m[2], "', '")...)
	}
	commands := completed(newApp(&env{}))
	if len(commands) < 20 {
		t.Fatal(len(commands), "commands")
	}
	for _, c := range commands {
		want := slices.Clone(c.Values)
		for _, f := range c.Flags {
			want = append(want, "--"+f.Name)
			if len(f.Values) > 0 && !slices.Equal(lists[c.Name+" --"+f.Name], f.Values) {
				t.Errorf("hist %s --%s completes %q, not %q", c.Name, f.Name, lists[c.Name+" --"+f.Name], f.Values)
			}
		}
		have := lists[c.Name]
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("hist %s completes\n%q\nnot\n%q", c.Name, have, want)
		}
	}
}
