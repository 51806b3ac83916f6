//go:build linux

package home

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/testkit/testfile"
	"github.com/hist-cli/hist/internal/walk"
)

// withState runs the tests with a directory of their own for hist's locks.
func withState(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hist-state-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_STATE_HOME", dir)
	return m.Run()
}

// The test binary plays the other process when HIST_TEST_PLAY is set: it says "ready" and stays until stdin ends.
func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv("HIST_TEST_PLAY"), ":")
	switch role {
	case "":
		os.Exit(withState(m))
	case "open-read":
		stay(os.Open(arg))
	case "open-append":
		stay(os.OpenFile(arg, os.O_APPEND|os.O_WRONLY, 0))
	case "flock", "flock-shared":
		f, err := os.OpenFile(arg, os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = tryLock(f, role == "flock")
		}
		stay(f, err)
	case "lock":
		home, id, _ := strings.Cut(arg, ":")
		_, err := Lock(home, id)
		stay(nil, err)
	case "name":
		home, id, _ := strings.Cut(arg, ":")
		info, err := os.Stat(home)
		if err == nil {
			_, err = takeName(rivalName(info.Sys().(*syscall.Stat_t), id))
		}
		stay(nil, err)
	case "in-use":
		fmt.Println("ready")
		b, err := InUse(arg, "", "")
		fmt.Println(b, err)
	case "walk":
		fmt.Println("ready")
		walk.Walk(ctx, arg, func(e walk.Entry) error { fmt.Println(filepath.Base(e.Path), e.Err != nil); return nil })
	}
}

func stay(f *os.File, err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	f.Close()
}

// play starts the test binary in a role and waits until it is ready. end closes its stdin and waits.
func play(t *testing.T, role string, attr *syscall.SysProcAttr) (cmd *exec.Cmd, out *bufio.Reader, end func()) {
	t.Helper()
	exe := "/proc/self/exe"
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), "HIST_TEST_PLAY="+role)
	cmd.SysProcAttr = attr
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	pipe, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out = bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q, %v", role, line, err)
	}
	end = func() { in.Close(); io.Copy(io.Discard, out); cmd.Wait() }
	t.Cleanup(end)
	return cmd, out, end
}

// codexHome makes a home with a session of idA and the lock directory.
func codexHome(t *testing.T) (home, path string) {
	home = testfile.Tree(t, "sessions/2026/11/20/rollout-2026-11-20T10-00-00-"+idA+".jsonl", lockDir+"/"+coordination)
	return home, filepath.Join(home, "sessions/2026/11/20/rollout-2026-11-20T10-00-00-"+idA+".jsonl")
}

func free(t *testing.T, path, home string) {
	t.Helper()
	if b, err := InUse(path, home, idA); b != nil || err != nil {
		t.Errorf("free, but %v, %v", b, err)
	}
}

func TestInUseOpen(t *testing.T) {
	home, path := codexHome(t)
	free(t, path, home)
	cmd, _, end := play(t, "open-append:"+path, nil)
	b, err := InUse(path, home, idA)
	if err != nil || b == nil || b.PID != cmd.Process.Pid || !errors.Is(b, ErrBusy) {
		t.Errorf("open to append: %+v, %v", b, err)
	}
	end()
	free(t, path, home)
	_, _, end = play(t, "open-read:"+path, nil) // no client, nor on its way to be one
	free(t, path, home)
	end()
	f, _ := os.OpenFile(path, os.O_WRONLY, 0)
	if b, _ := InUse(path, home, idA); b == nil || b.PID != os.Getpid() {
		t.Errorf("open here: %+v", b)
	}
	f.Close()
	link := filepath.Join(home, "link.jsonl")
	os.Symlink(path, link)
	free(t, link, "")
	if _, err := InUse(path+"x", home, idA); err == nil {
		t.Error("a missing file is free")
	}
	if _, err := InUse(path, home, "../"+idA); !errors.Is(err, agent.ErrBadID) {
		t.Error(err)
	}
}

// TestInUseForeign looks at a file as somebody who does not own it and so gets no lease.
func TestInUseForeign(t *testing.T) {
	home, path := codexHome(t)
	os.Chmod(path, 0o644)
	asNobody(t, home)
	_, out, end := play(t, "in-use:"+path, nobody)
	if line, _ := out.ReadString('\n'); line != "<nil> <nil>\n" {
		t.Errorf("got %q", line)
	}
	end()
}

var nobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

// asNobody lets other users come to dir, and skips a test that cannot become somebody else.
func asNobody(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	for ; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			os.Chmod(dir, info.Mode().Perm()|0o055)
		}
	}
}

func TestHold(t *testing.T) {
	_, path := codexHome(t)
	g, b, err := disk.Hold(path)
	if g == nil || b != nil || err != nil {
		t.Skip("no leases here", b, err)
	}
	if g.Broken() {
		t.Error("broken at once")
	}
	// Renaming over the file must not break the lease.
	tmp := filepath.Join(filepath.Dir(path), "new")
	os.WriteFile(tmp, []byte("new"), 0o600)
	if err := os.Rename(tmp, path); err != nil || g.Broken() {
		t.Error(err, g.Broken())
	}
	g.Release()
	g.Release()

	g, _, _ = disk.Hold(path)
	done := make(chan struct{})
	go func() {
		if f, err := os.Open(path); err == nil { // waits
			f.Close()
		}
		close(done)
	}()
	for deadline := time.Now().Add(5 * time.Second); !g.Broken(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an open did not break the lease")
		}
	}
	g.Release()
	<-done
	var none *disk.Guard
	none.Release()
	if none.Broken() {
		t.Error("no guard is broken")
	}
}

func TestInUseLock(t *testing.T) {
	home, path := codexHome(t)
	lock := filepath.Join(home, lockDir, idA+".lock")
	cmd, _, end := play(t, "flock:"+lock, nil)
	b, err := InUse(path, home, idA)
	if err != nil || b == nil || b.PID != cmd.Process.Pid || !strings.Contains(b.Reason, lock) {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := Lock(home, idA); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if release, err := Lock(home, idB); err != nil { // another thread is free
		t.Error(err)
	} else {
		release()
	}
	// As after kill -9: the file stays, its lock is gone.
	cmd.Process.Kill()
	end()
	if _, err := os.Stat(lock); err != nil {
		t.Fatal(err)
	}
	free(t, path, home)
	release, err := Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// A lock that can't be looked at does not hide that the file is open; that nobody has it open says nothing of the lock.
func TestInUseUnknown(t *testing.T) {
	home, path := codexHome(t)
	if err := os.MkdirAll(filepath.Join(home, lockDir, idA+".lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if b, err := InUse(path, home, idA); b != nil || err == nil {
		t.Errorf("%+v, %v", b, err)
	}
	cmd, _, end := play(t, "open-append:"+path, nil)
	defer end()
	if b, err := InUse(path, home, idA); err != nil || b == nil || b.PID != cmd.Process.Pid {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestInUseMigration(t *testing.T) {
	home, path := codexHome(t)
	base := filepath.Base(path)
	for _, mark := range []string{
		filepath.Join(home, "rollout-migrations", idA+".pending"),
		filepath.Join(filepath.Dir(path), "."+base+".paginated.tmp"),
		filepath.Join(filepath.Dir(path), "."+base+".head.tmp"),
	} {
		os.MkdirAll(filepath.Dir(mark), 0o700)
		os.WriteFile(mark, nil, 0o600)
		b, err := InUse(path, home, idA)
		if err != nil || b == nil || !strings.Contains(b.Reason, mark) || !strings.Contains(b.Reason, "let it finish") {
			t.Errorf("%s: %+v, %v", mark, b, err)
		}
		os.Remove(mark)
		free(t, path, home)
	}
}

func TestLock(t *testing.T) {
	home, path := codexHome(t)
	lock := filepath.Join(home, lockDir, idA+".lock")
	release, err := Lock(home, strings.ToUpper(idA))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
	if _, err := Lock(home, idA); !errors.Is(err, ErrBusy) {
		t.Errorf("locked twice: %v", err)
	}
	release()
	release()
	if _, err := os.Stat(lock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file stays: %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, lockDir, coordination)); err != nil {
		t.Errorf("the coordination lock must stay: %v", err)
	}
	free(t, path, home)

	cmd, _, end := play(t, "lock:"+home+":"+idA, nil)
	_, err = Lock(home, idA)
	if b := (*Busy)(nil); !errors.As(err, &b) || b.PID != cmd.Process.Pid {
		t.Errorf("%v", err)
	}
	end()

	// A client that starts or stops holds the coordination lock for a moment; one that hangs holds it for ever.
	_, _, end = play(t, "flock:"+filepath.Join(home, lockDir, coordination), nil)
	time.AfterFunc(200*time.Millisecond, end)
	release, err = Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	release()
	_, _, end = play(t, "flock:"+filepath.Join(home, lockDir, coordination), nil)
	if _, err := Lock(home, idA); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	end()

	if _, err := Lock(home, "../../x"); !errors.Is(err, agent.ErrBadID) {
		t.Error(err)
	}
}

func TestLockMaintenance(t *testing.T) {
	home, _ := codexHome(t)
	name := filepath.Join(home, ".tmp", "rollout-maintenance.lock")
	release, err := Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := os.Stat(filepath.Dir(name)); err == nil {
		t.Error("the maintenance lock was made")
	}
	os.Mkdir(filepath.Dir(name), 0o700)
	_, _, end := play(t, "flock:"+name, nil)
	if _, err := Lock(home, idA); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(home, lockDir, idA+".lock")); err == nil {
		t.Error("the thread's lock is left behind")
	}
	end()
	if release, err = Lock(home, idA); err != nil {
		t.Fatal(err)
	}
	f, _ := os.OpenFile(name, os.O_RDWR, 0)
	defer f.Close()
	if tryLock(f, true) != errLocked {
		t.Error("the maintenance lock is not held")
	}
	release()
	if err := tryLock(f, true); err != nil {
		t.Error(err)
	}
}

func TestLockMakesNoDirectory(t *testing.T) {
	home := t.TempDir()
	release, err := Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	// Other runs of hist are kept off all the same, however they call the home.
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{home, other} {
		if _, err := Lock(name, strings.ToUpper(idA)); !errors.Is(err, ErrBusy) {
			t.Errorf("%s is locked twice: %v", name, err)
		}
	}
	free, err := Lock(home, idB)
	if err != nil {
		t.Fatal(err)
	}
	free()
	release()
	if release, err = Lock(home, idA); err != nil {
		t.Fatal(err)
	}
	release()
	for _, dir := range []string{home, filepath.Join(os.Getenv("XDG_STATE_HOME"), "hist", "locks")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", dir, left, err)
		}
	}
}

// TestWalkDenied walks as nobody, since root may read everything.
func TestWalkDenied(t *testing.T) {
	root := testfile.Tree(t, "a/x.jsonl", "b/y.jsonl", "c.jsonl")
	os.Chmod(filepath.Join(root, "a"), 0o700)
	asNobody(t, root)
	_, out, end := play(t, "walk:"+root, nobody)
	var got []string
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			break
		}
		got = append(got, strings.TrimSpace(line))
	}
	end()
	if want := "[a true y.jsonl false c.jsonl false]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestAsker: who asks about many sessions gets what who asks about one gets, once the moment is over for which it trusts
// what it has read.
func TestAsker(t *testing.T) {
	home, path := codexHome(t)
	a := NewAsker(t.Context())
	later := func() {
		for _, d := range a.directories {
			d.until = time.Time{}
		}
	}
	nobody := func() {
		t.Helper()
		for range 2 * fewSessions {
			if b, err := a.InUse(path, home, idA); b != nil || err != nil {
				t.Fatalf("%+v, %v", b, err)
			}
		}
		later()
	}
	nobody()
	lock := filepath.Join(home, lockDir, idA+".lock")
	cmd, _, end := play(t, "flock:"+lock, nil)
	if b, err := a.InUse(path, home, idA); err != nil || b == nil || b.PID != cmd.Process.Pid {
		t.Errorf("%+v, %v", b, err)
	}
	cmd.Process.Kill()
	end()
	nobody()
	for _, mark := range []string{filepath.Join(home, "rollout-migrations", idA+".pending"), filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".head.tmp")} {
		os.MkdirAll(filepath.Dir(mark), 0o700)
		os.WriteFile(mark, nil, 0o600)
		later()
		if b, err := a.InUse(path, home, idA); err != nil || b == nil || !strings.Contains(b.Reason, mark) {
			t.Errorf("%s: %+v, %v", mark, b, err)
		}
		os.Remove(mark)
		later()
		nobody()
	}
}
