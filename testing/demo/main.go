// Demo draws the moving picture of the README: a real client is killed while a tool runs, hist finds what that broke and
// mends it, and the client carries on. The terminal's text is what the programs print; only the model is a stand-in. What differs
// from run to run (ids, times, a hash) is replaced, so that the picture changes only with what is printed: the test of this folder, with
// the client, checks that it is today's.
//
//	HIST_CODEX_DIR=.codex-bin go run ./testing/demo docs/demo.svg
//
// It needs Linux: the commands run in a terminal of 80 columns, which script(1) makes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

const (
	columns = 80
	version = "0.171.0" // of the client
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("it takes a file: demo docs/demo.svg")
	}
	picture, err := play(context.Background(), "", ".")
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(picture), 0o644)
}

// play has the client and hist do their parts, and draws what they print. The home is made below base, "" for the user's cache; top
// is the folder of hist's source.
func play(ctx context.Context, base, top string) (string, error) {
	bin, err := clienttest.Find(version)
	if err != nil {
		return "", err
	}
	h, err := clienttest.NewHome(base, bin)
	if err != nil {
		return "", err
	}
	defer h.Close()
	hist := filepath.Join(h.Root, "bin", "hist")
	build := exec.CommandContext(ctx, "go", "build", "-o", hist, ".")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	if err := os.Symlink(bin.Path, filepath.Join(h.Root, "bin", "codex")); err != nil {
		return "", err
	}
	res, err := clienttest.Record(ctx, h, "kill_in_tool")
	if err != nil {
		return "", err
	}
	id, err := clienttest.SessionID(res.Rollout)
	if err != nil {
		return "", err
	}
	h.Server.Reset()
	h.Server.Queue(clienttest.Reply{Items: []clienttest.Item{clienttest.Message("msg_demo", "I see that two calls were cut off, and check what they did before I go on.")}})
	d := &demo{h: h, bin: bin}
	d.show(`codex exec "list the files please"`, asUsers(h, running(res.Stderr))+"Killed")
	d.say("hist lint", "hist lint")
	repaired := d.say("hist repair "+id[:13], "hist repair "+id[:13])
	_, rest, ok := strings.Cut(repaired, "codex resume ")
	if !ok {
		return "", fmt.Errorf("the repair names no copy: %s", repaired)
	}
	copied, _, _ := strings.Cut(rest, "\n")
	d.say("codex exec resume "+copied[:13]+`… "go on"`, "codex exec --skip-git-repo-check resume "+copied+` "go on" 2>/dev/null`)
	d.say("hist lint", "hist lint")
	return draw(d.constant(id, copied)), d.err
}

// running are the lines with which the client tells what it runs.
func running(printed string) string {
	lines := regexp.MustCompile(`(?m)^.*(echo two).*\n`).FindAllString(plain(printed), 1)
	return strings.Join(lines, "")
}

// demo is what stands on the screen so far.
type demo struct {
	h      *clienttest.Home
	bin    clienttest.Binary
	screen []string
	err    error // the first
}

// show puts a command and what it printed on the screen.
func (d *demo) show(command, printed string) {
	d.screen = append(append(d.screen, "$ "+command), strings.Split(strings.TrimRight(printed, "\n"), "\n")...)
}

// say runs a command, shows it, perhaps in another form, and returns what it printed, without colours.
func (d *demo) say(shown, command string) string {
	if d.err != nil {
		return ""
	}
	var out string
	if out, d.err = inTerminal(d.h, d.bin, command); d.err == nil {
		d.show(shown, out)
	}
	return plain(out)
}

// What differs from run to run, and what the picture has instead, of the same length.
var (
	timeForms = []struct {
		form *regexp.Regexp
		to   string
	}{
		{regexp.MustCompile(`sessions/\d{4}/\d\d/\d\d/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`), "sessions/2026/11/27/rollout-2026-11-27T09-30-00"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "2026-11-27T09:30:00.000Z"},
		{regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{6}`), "20261127T093100Z-5e1f07"},
		{regexp.MustCompile(`SHA-256 [0-9a-f]{16}`), "SHA-256 3b1f6c0a92d4e857"},
		{regexp.MustCompile(`\d+ (second|minute)s? ago`), "just now"},
	}
	original, repairedCopy = "01a21c2e-8f40-7a11-b3d2-5c9e7f0a6d14", "01a21c2f-1b6c-7e52-8a07-94d3c2e1f5b8"
)

// constant is the screen with what differs from run to run replaced. Ids may be broken over two lines.
func (d *demo) constant(id, copied string) []string {
	text := strings.Join(folded(d.screen), "\n")
	for _, same := range [][2]string{{id, original}, {copied, repairedCopy}} {
		var form strings.Builder
		for _, c := range same[0] {
			fmt.Fprintf(&form, "(\n?)%c", c)
		}
		text = regexp.MustCompile(form.String()).ReplaceAllStringFunc(text, func(found string) string { return broken(same[1], found) })
		text = strings.ReplaceAll(text, same[0][:13], same[1][:13])
	}
	for _, f := range timeForms {
		text = f.form.ReplaceAllString(text, f.to)
	}
	return strings.Split(text, "\n")
}

// broken breaks a text where another of the same letters is broken.
func broken(text, like string) string {
	var b strings.Builder
	at := 0
	for _, c := range like {
		if c == '\n' {
			b.WriteByte('\n')
			continue
		}
		b.WriteByte(text[at])
		at++
	}
	return b.String()
}

// inTerminal runs a command in a terminal of its own, and returns what it prints.
func inTerminal(h *clienttest.Home, bin clienttest.Binary, command string) (string, error) {
	c := exec.Command("script", "-qec", fmt.Sprintf("stty cols %d rows 50; %s", columns, command), "/dev/null")
	c.Dir = h.Work
	c.Env = []string{
		"HOME=" + h.Root, "CODEX_HOME=" + h.Codex, "XDG_STATE_HOME=" + filepath.Join(h.Root, "state"), "TERM=xterm-256color", "LANG=C.UTF-8", "MOCK_KEY=unused",
		"NO_PROXY=127.0.0.1,localhost", "HTTPS_PROXY=" + h.Server.Proxy(), "HTTP_PROXY=" + h.Server.Proxy(), "ALL_PROXY=" + h.Server.Proxy(),
		"PATH=" + filepath.Join(h.Root, "bin") + ":" + strings.Join(append(bin.Extra, os.Getenv("PATH")), ":"),
	}
	out, err := c.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { // lint exits with 1
		return "", err
	}
	return asUsers(h, strings.ReplaceAll(string(out), "\r", "")), nil
}

// asUsers is a text with the home's paths as a user's are.
func asUsers(h *clienttest.Home, text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, h.Codex, "~/.codex"), h.Root, "~")
}
