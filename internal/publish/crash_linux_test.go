package publish

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays another process when HIST_TEST_PLAY is set: role, path and step, separated by spaces.
func TestMain(m *testing.M) {
	play := strings.Split(os.Getenv("HIST_TEST_PLAY"), " ")
	if len(play) != 3 {
		os.Exit(m.Run())
	}
	role, path, at := play[0], play[1], play[2]
	target := Target{Path: path, Replace: role == "replace", ModTime: time.Unix(1e9, 0)}
	content := strings.Repeat("new\n", 1<<20)
	switch role {
	case "fsize": // like a full disk, but anybody may do it
		signal.Ignore(syscall.SIGXFSZ)
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20})
	case "full":
		dir := filepath.Dir(path)
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			fmt.Println("skip:", err)
			return
		}
		defer reportDir(dir)
	case "readonly":
		dir := filepath.Dir(path)
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY, ""); err != nil {
			fmt.Println("skip:", err)
			return
		}
	case "link":
		if err := os.WriteFile(path+".tmp", []byte(content), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	ObserveSteps(func(name string) {
		if name == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if at == "list" {
			fmt.Println(name)
		}
	})
	var err error
	if role == "link" {
		err = link(path+".tmp", path)
	} else {
		err = Write(ctx, target, text(content), Checks{Content: func(string) error { return nil }})
	}
	if err != nil {
		fmt.Println(err, errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EFBIG), errors.Is(err, unix.EROFS))
	}
}

func reportDir(dir string) {
	left, _ := os.ReadDir(dir)
	fmt.Println("left", len(left))
}

func run(t *testing.T, attr *syscall.SysProcAttr, role, path, at string) (string, error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "HIST_TEST_PLAY="+role+" "+path+" "+at)
	cmd.SysProcAttr = attr
	out, err := cmd.Output()
	return string(out), err
}

// TestKilled kills the process after every step: the target is wholly old or wholly new, and Sweep tidies up.
func TestKilled(t *testing.T) {
	content := strings.Repeat("new\n", 1<<20)
	for _, role := range []string{"create", "replace"} {
		steps, err := run(t, nil, role, filepath.Join(t.TempDir(), "a.jsonl"), "list")
		if err != nil || len(strings.Fields(steps)) < 9 {
			t.Fatalf("steps %q, %v", steps, err)
		}
		for _, at := range strings.Fields(steps) {
			t.Run(role+" "+at, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "a.jsonl")
				if role == "replace" {
					os.WriteFile(path, []byte("old"), 0o600)
				}
				_, err := run(t, nil, role, path, at)
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("not killed: %v", err)
				}
				data, err := os.ReadFile(path)
				isNew := string(data) == content
				isOld := role == "replace" && string(data) == "old" || role == "create" && errors.Is(err, fs.ErrNotExist)
				if published := at == "published" || at == "durable"; isNew != published || isOld == published {
					t.Errorf("%d bytes, %v", len(data), err)
				}
				left, _ := filepath.Glob(filepath.Join(dir, ".hist-*"))
				if isNew && len(left) != 0 || isOld && len(left) != 1 {
					t.Errorf("left behind: %v", left)
				}
				sweepOld(t, dir, left)
			})
		}
	}
}

// sweepOld makes left-over files two hours older and expects them to be swept.
func sweepOld(t *testing.T, dir string, left []string) {
	t.Helper()
	past := time.Now().Add(-2 * time.Hour)
	for _, path := range left {
		old := filepath.Join(dir, fmt.Sprintf(".hist-%08x%s", past.Unix(), filepath.Base(path)[len(".hist-")+8:]))
		os.Rename(path, old)
		os.Chtimes(old, past, past)
	}
	if removed, err := Sweep(dir); err != nil || len(removed) != len(left) {
		t.Errorf("swept %v, %v", removed, err)
	}
}

// TestLink is the way of file systems that have no rename without replacing.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	if _, err := run(t, nil, "link", path, "linked"); err == nil {
		t.Error("not killed")
	}
	if data, _ := os.ReadFile(path); len(data) != 4<<20 {
		t.Errorf("%d bytes", len(data))
	}
	os.Remove(path + ".tmp") // the killed process left it as a second name
	os.WriteFile(path+".tmp", []byte("newer"), 0o600)
	if err := link(path+".tmp", path); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if data, _ := os.ReadFile(path); len(data) != 4<<20 {
		t.Errorf("%d bytes", len(data))
	}
}

func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "a.jsonl")
	out, err := run(t, nil, "fsize", old, "-")
	if err != nil || !strings.Contains(out, "ulimit -f") || !strings.Contains(out, old) || !strings.Contains(out, "false false true false") {
		t.Errorf("%q, %v", out, err)
	}
	only(t, dir)

	space := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err = run(t, space, "full", old, "-")
	if err != nil || strings.HasPrefix(out, "skip") {
		t.Skip("no private mounts here:", out, err)
	}
	if !strings.Contains(out, "free some space") || !strings.Contains(out, "false true false false") || !strings.Contains(out, "left 0") {
		t.Errorf("%q, %v", out, err)
	}
	out, err = run(t, space, "readonly", old, "-")
	if err != nil || !strings.Contains(out, "must be writable") || !strings.Contains(out, "true\n") {
		t.Errorf("%q, %v", out, err)
	}
	only(t, dir)
}

// TestNotAllowed writes as nobody into root's directory.
func TestNotAllowed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	dir := t.TempDir()
	for d := dir; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		os.Chmod(d, 0o755)
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := run(t, nobody, "create", filepath.Join(dir, "a.jsonl"), "-")
	if err != nil || !strings.Contains(out, "must be writable") || !strings.Contains(out, "true false") {
		t.Errorf("%q, %v", out, err)
	}
	only(t, dir)
}

func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to give files away")
	}
	dir := t.TempDir()
	owned := filepath.Join(dir, "owned")
	os.WriteFile(owned, nil, 0o600)
	os.Chown(owned, 65534, 65533)
	info, _ := os.Stat(owned)
	path := filepath.Join(dir, "a")
	if err := Write(ctx, Target{Path: path, Mode: 0o640, Owner: info}, func(io.Writer) error { return nil }, Checks{}); err != nil {
		t.Fatal(err)
	}
	got, _ := os.Stat(path)
	if st := got.Sys().(*syscall.Stat_t); st.Uid != 65534 || st.Gid != 65533 || got.Mode() != 0o640 {
		t.Errorf("%d %d %v", st.Uid, st.Gid, got.Mode())
	}
}
