package decisions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an earlier process left behind costs no decision of a later one: a line without its end, one that is no JSON, one of
// megabytes.
func TestReadPastWhatIsBroken(t *testing.T) {
	for name, left := range map[string]string{
		"no log":          "",
		"a torn line":     `{"id":"a","asked":["x"`,
		"a whole line":    `{"id":"a","asked":["x"]}` + "\n",
		"zeroes":          strings.Repeat("\x00", 4096),
		"an endless line": strings.Repeat("x", 3<<20),
		"a long line":     strings.Repeat("x", 3<<20) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			path, err := Path()
			if err != nil {
				t.Fatal(err)
			}
			if left != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(left), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before, err := Read()
			if whole := strings.Count(left, "}\n"); err != nil || len(before) != whole {
				t.Errorf("%d decisions at first, %v, want %d", len(before), err, whole)
			}
			for _, d := range []Decision{{ID: "b", Digest: "one", Repaired: true, Run: "r1"}, {ID: "c"}, {ID: "c", Why: "later"}} {
				if err := Append(d); err != nil {
					t.Fatal(err)
				}
			}
			all, err := Read()
			if err != nil || len(all) != len(before)+2 || all[len(all)-2].ID != "b" || all[len(all)-1].Why != "later" {
				t.Errorf("%+v, %v", all, err)
			}
			if run, err := Tried("one"); run != "r1" || err != nil {
				t.Errorf("the earlier repair is %q, %v", run, err)
			}
			text, err := os.ReadFile(path)
			if err != nil || !strings.HasPrefix(string(text), left) || strings.Contains(string(text), "\n\n") || strings.HasPrefix(string(text), "\n") {
				t.Errorf("the log was not only written on: %.200q, %v", text, err)
			}
		})
	}
}
