// Demo draws the moving picture of the README: a real client is killed while a tool runs, hist finds what that broke and
// mends it, and the client carries on. The terminal's text is what the programs print; only the model is a stand-in.
//
//	HIST_CODEX_DIR=.codex-bin go run ./internal/agent/codex/clienttest/demo 0.169.0 docs/demo.svg
//
// It needs Linux: the commands run in a terminal of 80 columns, which script(1) makes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex/clienttest"
)

const columns = 80

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("it takes a client's version and a file: demo 0.169.0 docs/demo.svg")
	}
	bin, err := clienttest.Find(args[0])
	if err != nil {
		return err
	}
	h, err := clienttest.NewHome("", bin)
	if err != nil {
		return err
	}
	defer h.Close()
	res, err := clienttest.Record(context.Background(), h, "kill_in_tool")
	if err != nil {
		return err
	}
	id, err := clienttest.SessionID(res.Rollout)
	if err != nil {
		return err
	}
	h.Server.Reset()
	h.Server.Queue(clienttest.Reply{Items: []clienttest.Item{clienttest.Message("msg_demo", "I see that two calls were cut off, and check what they did before I go on.")}})
	hist := filepath.Join(h.Root, "bin", "hist")
	if out, err := exec.Command("go", "build", "-o", hist, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if err := os.Symlink(bin.Path, filepath.Join(h.Root, "bin", "codex")); err != nil {
		return err
	}
	var screen []string
	say := func(shown, command string) (string, error) {
		out, err := inTerminal(h, bin, command)
		if err != nil {
			return "", err
		}
		screen = append(screen, "$ "+shown)
		screen = append(screen, strings.Split(strings.TrimRight(out, "\n"), "\n")...)
		return out, nil
	}
	short := id[:13]
	if _, err := say("hist lint", "hist lint"); err != nil {
		return err
	}
	out, err := say("hist repair "+short, "hist repair "+short)
	if err != nil {
		return err
	}
	_, rest, ok := strings.Cut(plain(out), "codex resume ")
	if !ok {
		return fmt.Errorf("the repair names no copy: %s", out)
	}
	copied, _, _ := strings.Cut(rest, "\n")
	if _, err := say(`codex exec resume `+copied[:13]+`… "go on"`, "codex exec --skip-git-repo-check resume "+copied+` "go on" 2>/dev/null`); err != nil {
		return err
	}
	if _, err := say("hist lint", "hist lint"); err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte(draw(screen)), 0o644)
}

// inTerminal runs a command in a terminal of its own, and returns what it prints, with the home's paths as a user's are.
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
	text := strings.ReplaceAll(string(out), "\r", "")
	text = strings.ReplaceAll(text, h.Codex, "~/.codex")
	return strings.ReplaceAll(text, h.Root, "~"), nil
}
