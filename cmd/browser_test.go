package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// phone, as the first flag for browse, shows the page on a screen of 390 by 844.
const phone = "phone"

// dark are the flags for a dark page.
var dark = []string{"--force-dark-mode", "--blink-settings=preferredColorScheme=0"}

// inBrowser says whether pages are looked at in a browser, which takes longer than all else does. CI does so once.
var inBrowser = flag.Bool("browser", false, "open pages in a headless Chromium")

// browse opens a page in a headless Chromium, runs a script in it behind the page's own, and returns what that leaves
// in the title. Without -browser, or a browser, the test is skipped.
func browse(t *testing.T, page []byte, script string, flags ...string) string {
	t.Helper()
	if !*inBrowser {
		t.Skip("opens a browser: -browser does that")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no browser: install chromium to test the page")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	probe := "<script>const tell = text => { document.title = text; parent.postMessage(text, '*'); }; tell((() => { " + script + " })());</script></body>"
	if err := os.WriteFile(path, bytes.Replace(page, []byte("</body>"), []byte(probe), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(flags) > 0 && flags[0] == phone { // no window of a browser is that narrow
		flags = append([]string{"--virtual-time-budget=10000"}, flags[1:]...)
		path = filepath.Join(dir, "frame.html")
		frame := `<html><head><title></title></head><body><script>addEventListener("message", e => { document.title = e.data; })</script><iframe src="page.html" style="border:0;width:390px;height:844px"></iframe></body></html>`
		if err := os.WriteFile(path, []byte(frame), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "user"), "--dump-dom"}, flags...)
	cmd := exec.CommandContext(ctx, browser, append(args, "file://"+path)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, complaints.String())
	}
	m := regexp.MustCompile(`<title>(.*?)</title>`).FindSubmatch(dom)
	if m == nil {
		t.Fatalf("no title in %d bytes", len(dom))
	}
	return string(m[1])
}

// pageOf writes the page of a session.
func pageOf(t *testing.T, session string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	var out bytes.Buffer
	if code := Main([]string{"hist", "show", "--show-content", "--html", path, session}, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestPageInBrowser opens a page wide and narrow, light and dark, and uses its keys.
func TestPageInBrowser(t *testing.T) {
	killed, err := filepath.Glob("../fixtures/codex/0.169.0/kill_in_tool_resumed0/*.jsonl")
	if err != nil || len(killed) != 1 {
		t.Fatal(killed, err)
	}
	page := pageOf(t, killed[0])
	fits := `return getComputedStyle(document.body).backgroundColor + " " + (document.documentElement.scrollWidth <= innerWidth)`
	for _, tc := range []struct {
		name, script, want string
		flags              []string
	}{
		{"wide and light", fits, "rgb(252, 252, 250) true", []string{"--window-size=1100,900"}},
		{"narrow and dark", fits, "rgb(23, 25, 27) true", append([]string{phone}, dark...)},
		{"keys", `const press = key => dispatchEvent(new KeyboardEvent("keydown", {key}));
			const open = () => [...document.querySelectorAll(".turn")].map(t => t.open);
			press("j"); press("j"); press("k"); press("j");
			const at = document.activeElement.innerText.slice(0, 6);
			const before = open(); press("e"); const after = open(); press("e");
			return [at, before, after, open()].join(" ")`, "Turn 2 true,true false,false true,true", nil},
		{"link to a finding", `location.hash = "#finding-2"; return document.querySelector("#finding-2").closest(".turn").open + " " + document.querySelectorAll("nav a").length`, "true 3", nil},
		{"search and filters", `const search = document.getElementById("search");
			const left = () => document.querySelectorAll(".turn li:not(.gone)").length + "/" + document.querySelectorAll(".turn:not(.gone)").length;
			const all = left();
			search.value = "carried on"; search.dispatchEvent(new Event("input")); const found = left();
			search.value = ""; search.dispatchEvent(new Event("input"));
			document.querySelector("[data-show=finding]").click(); const findings = left();
			document.querySelector("[data-show=failed]").click(); const failures = left();
			document.querySelector("[data-show=all]").click();
			return [all, found, findings, failures, left() === all, document.querySelector("[aria-pressed=true]").textContent].join(" ")`, "12/2 1/1 4/2 6/2 true All", nil},
		{"next finding", `dispatchEvent(new KeyboardEvent("keydown", {key: "n"})); const first = document.activeElement.id;
			document.getElementById("next").click(); return first + " " + document.activeElement.id`, "finding-1 finding-2", nil},
		{
			"head", `const card = document.querySelector(".card"); return [card.querySelector("h1").textContent, card.querySelector(".badge").textContent, document.querySelector(".command code").textContent].join("; ")`,
			"list the files please; 3 findings, 1 note; hist repair " + killed[0], nil,
		},
		{"the worst first", `return [...document.querySelectorAll("nav .impact")].map(e => e.textContent).join()`, "loses,loses,shows", nil},
		{"the first finding on a phone", `return innerWidth + " " + (document.querySelector("nav li").getBoundingClientRect().bottom < innerHeight)`, "390 true", []string{phone}},
		{"width", `return document.body.getBoundingClientRect().width`, "992", []string{"--window-size=1200,900"}},
		{"prompts and answers stand open", `return [...document.querySelectorAll("[data-kind=words] pre")].filter(p => !p.closest("details:not(.turn)")).map(p => p.textContent).join("|")`, "list the files please|please go on|Carried on.", nil},
		{"reached by keyboard", `const focusable = [...document.querySelectorAll("a, summary, pre")]; return focusable.every(e => e.tabIndex >= 0) + " " + document.querySelector("a").className`, "true skip", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := browse(t, page, tc.script, tc.flags...); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestPagesAccessible has axe-core look at both pages, wide and narrow, light and dark. $HIST_AXE is its script, of the
// package axe-core on npm; without it the test is skipped.
func TestPagesAccessible(t *testing.T) {
	axe, err := os.ReadFile(os.Getenv("HIST_AXE"))
	if err != nil {
		t.Skip("no axe-core: npm install axe-core, and set HIST_AXE to its axe.min.js")
	}
	killed, err := filepath.Glob("../fixtures/codex/0.169.0/kill_in_tool_resumed0/*.jsonl")
	if err != nil || len(killed) != 1 {
		t.Fatal(killed, err)
	}
	report := filepath.Join(t.TempDir(), "repair.html")
	var out bytes.Buffer
	args := []string{"hist", "repair", "-n", "--html", report, killed[0], "../fixtures/codex/rules/nul-bytes/bad.jsonl", "../fixtures/codex/rules/nul-bytes/ok.jsonl"}
	if code := Main(args, strings.NewReader(""), &out, &out); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	repaired, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	slimmed, err := os.ReadFile(slimPage(t))
	if err != nil {
		t.Fatal(err)
	}
	run := `document.querySelectorAll("details").forEach(d => { d.open = true; });
		axe.run().then(r => { tell("axe: " + JSON.stringify(r.violations.map(v => [v.id, v.nodes.length]))); });
		return "axe has not answered"`
	for name, page := range map[string][]byte{"timeline": pageOf(t, killed[0]), "report": repaired, "slim": slimmed} {
		page = bytes.Replace(page, []byte("</body>"), append(append([]byte("<script>"), axe...), "</script></body>"...), 1)
		for _, flags := range [][]string{{"--window-size=1200,900"}, append([]string{"--window-size=1200,900"}, dark...), {phone}, append([]string{phone}, dark...)} {
			if got := browse(t, page, run, append(slices.Clone(flags), "--virtual-time-budget=10000")...); got != "axe: []" {
				t.Errorf("%s, %s: %s", name, flags, got)
			}
		}
	}
}

// TestVeryLargePage: a page stays one that a browser opens, however long the session is: what went wrong and what
// was said last is told, the rest is counted.
func TestVeryLargePage(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a large session")
	}
	path := filepath.Join(t.TempDir(), "large.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	put := func(kind, payload string) {
		fmt.Fprintf(w, `{"timestamp":"2026-11-20T10:00:00.000Z","type":%q,"payload":%s}`+"\n", kind, payload)
	}
	put("session_meta", `{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w","originator":"x","cli_version":"0.114.0"}`)
	for turn := range 1000 {
		put("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`)
		for i := range 15 {
			put("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c%d_%d"}`, turn, i))
			if turn != 998 || i != 7 { // one call of the last but one turn has no output
				put("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d_%d","output":"Exit code: 0\nOutput:\n%s"}`, turn, i, strings.Repeat("y", 1000)))
			}
		}
		put("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	page := string(pageOf(t, path))
	if len(page) > 9<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"c998_7", "entries are left out of this page", "Turn 1000</b>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestLargePageInBrowser opens a page of 10,000 calls.
func TestLargePageInBrowser(t *testing.T) {
	if !*inBrowser {
		t.Skip("opens a large page in a browser")
	}
	var text strings.Builder
	put := func(kind, payload string) {
		fmt.Fprintf(&text, `{"timestamp":"2026-11-20T10:00:00.000Z","type":%q,"payload":%s}`+"\n", kind, payload)
	}
	put("session_meta", `{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w","originator":"x","cli_version":"0.114.0"}`)
	for turn := range 100 {
		put("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`)
		for i := range 100 {
			put("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c%d_%d"}`, turn, i))
			put("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d_%d","output":"Exit code: 0\nOutput:\nx"}`, turn, i))
		}
		put("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`)
	}
	path := filepath.Join(t.TempDir(), "large.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := browse(t, pageOf(t, path), `return document.querySelectorAll(".turn").length + " " + document.querySelectorAll(".ok").length + " " + document.querySelectorAll(".turn[open]").length`)
	if got != "100 10000 1" {
		t.Errorf("turns, calls, open turns: %s", got)
	}
}
