package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportInBrowser opens the report of a repair wide and narrow, light and dark, and in print.
func TestReportInBrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	var out bytes.Buffer
	args := []string{"hist", "repair", "--dry-run", "--html", path, "../fixtures/codex/rules/nul-bytes/bad.jsonl", "../fixtures/codex/rules/call-without-output/bad.jsonl"}
	if code := Main(args, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.Replace(page, []byte("default-src 'none'; "), nil, 1) // which lets no script look at it
	look := `const of = (q, p) => getComputedStyle(document.querySelector(q))[p];
		return [of("body", "backgroundColor"), of("del", "backgroundColor"), document.documentElement.scrollWidth <= innerWidth].join(" ")`
	for _, tc := range []struct {
		name, want string
		flags      []string
	}{
		{"wide and light", "rgb(252, 252, 250) rgb(245, 181, 181) true", []string{"--window-size=1100,900"}},
		{"narrow and dark", "rgb(23, 25, 27) rgb(138, 47, 54) true", []string{"--window-size=500,900", "--force-dark-mode", "--blink-settings=preferredColorScheme=0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := browse(t, page, look, tc.flags...); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
