package cmd

import (
	"bytes"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReportInBrowser opens the report of a repair wide and narrow, light and dark, and in print.
func TestReportInBrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	var out bytes.Buffer
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	args := []string{"hist", "repair", "--output", t.TempDir(), "--html", path, "../fixtures/codex/rules/nul-bytes/bad.jsonl", "../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl"}
	if code := Main(args, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.Replace(page, []byte("default-src 'none'; "), nil, 1) // which lets no script look at it
	look := `const of = (q, p) => getComputedStyle(document.querySelector(q))[p];
		const copies = [...document.querySelectorAll(".command button")].map(b => b.getAttribute("aria-label").slice(0, 14));
		const bars = [...document.querySelectorAll(".bar")].every(b => b.lastElementChild.getBoundingClientRect().right >= b.getBoundingClientRect().right - 2);
		return [of("body", "backgroundColor"), of("del", "backgroundColor"), document.documentElement.scrollWidth <= innerWidth, bars, copies.join()].join(" ")`
	for _, tc := range []struct {
		name, want string
		flags      []string
	}{
		{"wide and light", "rgb(252, 252, 250) rgb(245, 181, 181) true true Copy hist undo,Copy codex res,Copy codex res", []string{"--window-size=1100,900"}},
		{"narrow and dark", "rgb(23, 25, 27) rgb(138, 47, 54) true true Copy hist undo,Copy codex res,Copy codex res", append([]string{phone}, dark...)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := browse(t, page, look, tc.flags...); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// slimPage writes the page of a dry run of hist slim.
func slimPage(t *testing.T) (path string) {
	t.Helper()
	sessions, err := filepath.Glob("../fixtures/codex/0.171.0/compact/*.jsonl")
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	path = filepath.Join(t.TempDir(), "slim.html")
	var out bytes.Buffer
	if code := Main([]string{"hist", "slim", "-n", "--html", path, sessions[0]}, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	return path
}

// TestOperationPageInBrowser: the page of an operation begins with its command, shows what the client sends before and after, and what the
// file holds by class as two bars, of which the shorter one is as long as its share, with a table that names each colour.
func TestOperationPageInBrowser(t *testing.T) {
	page, err := os.ReadFile(slimPage(t))
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.Replace(page, []byte("default-src 'none'; "), nil, 1) // which lets no script look at it
	look := `const text = q => [...document.querySelectorAll(q)].map(e => e.innerText.replace(/\s+/g, " ").trim());
		const wide = e => e.getBoundingClientRect().width;
		const shares = [...document.querySelectorAll(".bars .bar")].map(b => Math.round(10 * [...b.children].filter(s => s.className != "free").map(wide).reduce((x, y) => x + y) / wide(b)));
		const colours = new Set([...document.querySelectorAll(".bars .bar span:not(.free)")].map(s => getComputedStyle(s).backgroundColor));
		const named = new Set([...document.querySelectorAll("table .swatch")].map(s => getComputedStyle(s).backgroundColor));
		return [text(".command code")[0].slice(0, 10), text("caption").join(), text("table:first-of-type th[scope=row]").join(), shares.join(), colours.size == named.size && colours.size > 6,
			document.documentElement.scrollWidth <= innerWidth, document.querySelector("table").getBoundingClientRect().bottom < 844].join("; ")`
	const want = "hist slim ; What the client sends,What the file holds,What changes; items,bytes,prompts; 10,6; true; true; true"
	for name, flags := range map[string][]string{"wide": {"--window-size=1200,900"}, "phone": append([]string{phone}, dark...)} {
		if got := browse(t, page, look, flags...); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestDryRunPageInBrowser: the page of a dry run begins with the command that makes the changes, as wide as the page of a timeline, and
// a phone's first screen holds the first of them.
func TestDryRunPageInBrowser(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const nul, call = "../fixtures/codex/rules/nul-bytes/bad.jsonl", "../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl"
	commands := `[...document.querySelectorAll(".command code")].map(c => c.textContent).join("; ")`
	for _, tc := range []struct {
		name, script, want string
		flags, args        []string
	}{
		{
			"phone", `const first = document.querySelector(".edit p:nth-of-type(2)").getBoundingClientRect(); return [innerWidth, first.bottom < innerHeight, ` + commands + `].join(" ")`,
			"390 true hist repair " + call,
			[]string{phone},
			[]string{call},
		},
		{
			"wide", `return [document.body.getBoundingClientRect().width, ` + commands + `].join(" ")`,
			"992 hist repair --rule nul-bytes --rule call-without-output --tidy NUL CALL; hist repair --rule nul-bytes --rule call-without-output --tidy NUL; hist repair --rule nul-bytes --rule call-without-output --tidy CALL",
			[]string{"--window-size=1200,900"},
			[]string{"--rule", "nul-bytes", "--rule", "call-without-output", "--tidy", nul, call},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "report.html")
			var out bytes.Buffer
			if code := Main(append([]string{"hist", "repair", "-n", "--html", path}, tc.args...), strings.NewReader(""), &out, &out); code != ExitOK {
				t.Fatalf("exit code %d: %s", code, out.String())
			}
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("NUL", nul, "CALL", call).Replace(tc.want)
			if got := browse(t, page, tc.script, tc.flags...); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestPagesLead: from the report of a repair a link leads to each session's timeline, and one from there back to its place
// in the report. Words of the conversation are in neither unless asked for.
func TestPagesLead(t *testing.T) {
	for _, content := range []bool{false, true} {
		dir := t.TempDir()
		session := filepath.Join(dir, "rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl")
		text, err := os.ReadFile("../fixtures/codex/0.169.0/kill_in_tool/" + filepath.Base(session))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(session, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		report := filepath.Join(dir, "what's new.html")
		args := []string{"hist", "repair", "--dry-run", "--html", report, session, "../fixtures/codex/rules/nul-bytes/bad.jsonl"}
		if content {
			args = append(args, "--show-content")
		}
		if code := Main(args, strings.NewReader(""), &out, &out); code != ExitOK {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
		page, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		links := regexp.MustCompile(`<a href="([^#"]+)">`).FindAllSubmatch(page, -1)
		if len(links) != 2 {
			t.Fatalf("%d links", len(links))
		}
		for i, link := range links {
			to, err := url.PathUnescape(html.UnescapeString(string(link[1])))
			if err != nil {
				t.Fatal(err)
			}
			timeline, err := os.ReadFile(filepath.Join(dir, to))
			if err != nil {
				t.Fatal(err)
			}
			back := regexp.MustCompile(`<a href="\.\./([^#"]+)#([^"]+)">The report of its repair</a>`).FindSubmatch(timeline)
			if back == nil {
				t.Fatalf("%s does not lead back", to)
			}
			if name, err := url.PathUnescape(html.UnescapeString(string(back[1]))); err != nil || name != filepath.Base(report) || !bytes.Contains(page, []byte(`id="`+string(back[2])+`"`)) {
				t.Errorf("%s leads to %s#%s: %v", to, back[1], back[2], err)
			}
			if i == 0 && bytes.Contains(timeline, []byte("list the files please")) != content {
				t.Errorf("--show-content %v: the timeline's words", content)
			}
		}
		if bytes.Contains(page, []byte("list the files please")) != content {
			t.Errorf("--show-content %v: the report's words", content)
		}
		// What stands there already is not replaced, and is told before anything is repaired.
		if err := os.Remove(report); err != nil {
			t.Fatal(err)
		}
		if code := Main(args, strings.NewReader(""), &out, &out); code != ExitIO || !strings.Contains(out.String(), "-timelines: the file exists already") {
			t.Errorf("exit code %d: %s", code, out.String())
		}
	}
}
