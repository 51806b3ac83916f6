package preresume

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// checkout is the state of a working directory.
type checkout struct {
	commit, branch string
	changed        int    // files that differ from the commit, new ones too
	problem        string // why the other fields are not known, "" if they are
}

// gitTimeout is how long one git command may take.
const gitTimeout = 2 * time.Second

// checkoutOf asks git for the state of a directory. It runs no program that the repository's configuration names.
func checkoutOf(ctx context.Context, dir string) checkout {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return checkout{problem: "the recorded directory does not exist now"}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return checkout{problem: "git is not installed here: the checkout was not compared"}
	}
	head, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return checkout{problem: "git knows nothing about it: no repository, no commit yet, or no answer within 2 seconds"}
	}
	c := checkout{commit: head}
	c.branch, _ = git(ctx, dir, "symbolic-ref", "--short", "--quiet", "HEAD") // there is none if HEAD is detached
	status, err := git(ctx, dir, "status", "--porcelain")
	c.changed = -1
	if err == nil {
		c.changed = len(strings.FieldsFunc(status, func(r rune) bool { return r == '\n' }))
	}
	return c
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), err
}
