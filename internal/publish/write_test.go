package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var ctx = context.Background()

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// only fails unless dir holds exactly these files: name, content, name, content.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, _ := os.ReadDir(dir)
	var got []string
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		got = append(got, e.Name(), string(data))
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	old := time.Date(2025, 1, 2, 3, 4, 5, 678900000, time.UTC)
	checked := ""
	err := Write(ctx, Target{Path: path, Mode: 0o640, ModTime: old}, text("one\n"), Checks{Content: func(tmp string) error {
		data, err := os.ReadFile(tmp)
		checked = string(data)
		if name := filepath.Base(tmp); !tempName.MatchString(name) || filepath.Dir(tmp) != dir {
			t.Errorf("temporary name %s", tmp)
		}
		return err
	}})
	if err != nil || checked != "one\n" {
		t.Fatal(err, checked)
	}
	info, _ := os.Stat(path)
	if !info.ModTime().Equal(old) || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("%v %v", info.ModTime(), info.Mode())
	}
	only(t, dir, "a.jsonl", "one\n")

	if err := Write(ctx, Target{Path: path}, text("two\n"), Checks{}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	only(t, dir, "a.jsonl", "one\n")
	if err := Write(ctx, Target{Path: path, Replace: true}, text("two\n"), Checks{}); err != nil {
		t.Error(err)
	}
	only(t, dir, "a.jsonl", "two\n")
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Error(info.Mode())
	}
}

// TestWriteLong: a file of which the disk begins to write parts before the rest is there holds every byte.
func TestWriteLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	long := strings.Repeat("0123456789abcde\n", (2*writebackSize+bufferSize)/16) + "the end"
	if err := Write(ctx, Target{Path: path}, text(long), Checks{}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != long {
		t.Errorf("%d bytes, want %d, %v", len(data), len(long), err)
	}
}

func TestWriteFails(t *testing.T) {
	boom := errors.New("boom")
	nested := fmt.Errorf("%w: %w", boom, &fs.PathError{Op: "read", Path: "/src", Err: fs.ErrPermission})
	big := strings.Repeat("x", 3*bufferSize)
	for _, c := range []struct {
		name  string
		fill  func(io.Writer, context.CancelFunc) error
		check func(string, context.CancelFunc) error
		want  error
	}{
		{name: "fill", want: boom, fill: func(w io.Writer, _ context.CancelFunc) error { io.WriteString(w, big); return nested }},
		{name: "check", want: boom, check: func(string, context.CancelFunc) error { return boom }},
		{name: "cancelled in check", want: context.Canceled, check: func(_ string, c context.CancelFunc) error { c(); return nil }},
		{name: "cancelled in fill", want: context.Canceled, fill: func(w io.Writer, c context.CancelFunc) error { c(); return text(big)(w) }},
		{name: "errors ignored", want: context.Canceled, fill: func(w io.Writer, c context.CancelFunc) error { c(); io.WriteString(w, big); return nil }},
		{name: "temporary file gone", want: fs.ErrNotExist, check: func(tmp string, _ context.CancelFunc) error { return os.Remove(tmp) }},
	} {
		for _, replace := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, ", replace ", replace), func(t *testing.T) {
				dir := t.TempDir()
				old := filepath.Join(dir, "a.jsonl")
				os.WriteFile(old, []byte("old"), 0o600)
				target := Target{Path: old, Replace: replace}
				if !replace {
					target.Path = filepath.Join(dir, "b.jsonl")
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				err := Write(ctx, target, func(w io.Writer) error {
					if c.fill == nil {
						return text(big)(w)
					}
					return c.fill(w, cancel)
				}, Checks{Content: func(tmp string) error {
					if c.check == nil {
						return nil
					}
					return c.check(tmp, cancel)
				}})
				if !errors.Is(err, c.want) || c.want != boom && !strings.Contains(err.Error(), target.Path) || errors.Is(err, ErrPublished) {
					t.Errorf("got %v", err)
				}
				only(t, dir, "a.jsonl", "old")
			})
		}
	}
}

func TestWritePanics(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		Write(ctx, Target{Path: filepath.Join(dir, "a")}, func(io.Writer) error { panic("boom") }, Checks{})
	}()
	only(t, dir)
}

// TestRace lets the name be taken between the first look and the last step.
func TestRace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	err := Write(ctx, Target{Path: path}, text("new"), Checks{Content: func(string) error {
		return os.WriteFile(path, []byte("theirs"), 0o600)
	}})
	if !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	only(t, dir, "a.jsonl", "theirs")
	os.Remove(path)
	err = Write(ctx, Target{Path: path, Replace: true}, text("new"), Checks{Content: func(string) error { return os.Mkdir(path, 0o700) }})
	if !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}

// TestLast: nothing is called after the last check, and if it fails nothing is renamed.
func TestLast(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	os.WriteFile(path, []byte("old"), 0o600)
	refused := errors.New("somebody has it open")
	var steps []string
	ObserveSteps(func(step string) { steps = append(steps, step) })
	t.Cleanup(func() { ObserveSteps(nil) })
	last := func() error { steps = append(steps, "last"); return refused }
	if err := Write(ctx, Target{Path: path, Replace: true, ModTime: time.Now()}, text("new"), Checks{Last: last}); err != refused { //nolint:errorlint // the very one: who was asked says what it is about
		t.Error(err)
	}
	only(t, dir, "a.jsonl", "old")
	if len(steps) < 3 || steps[len(steps)-1] != "last" || !slices.Contains(steps, "synced") || !slices.Contains(steps, "closed") {
		t.Errorf("steps: %v", steps)
	}
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	os.WriteFile(at("file"), []byte("old"), 0o600)
	os.Symlink("file", at("link"))
	os.Symlink("nowhere", at("dangling"))
	for _, c := range []struct {
		path    string
		replace bool
		want    error
	}{
		{at("link"), true, ErrNotRegular},
		{at("link"), false, ErrExists},
		{at("dangling"), true, ErrNotRegular},
		{at("dangling"), false, ErrExists},
		{dir, true, ErrNotRegular},
		{dir, false, ErrExists},
		{at("none/a"), false, fs.ErrNotExist},
		{at("file/a"), false, nil},
		{"", true, ErrNotRegular},
	} {
		err := Write(ctx, Target{Path: c.path, Replace: c.replace}, text("new"), Checks{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%q replace %v: %v", c.path, c.replace, err)
		}
	}
	os.Remove(at("link"))
	os.Remove(at("dangling"))
	only(t, dir, "file", "old")
}

func TestSameFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	os.Mkdir(at("sub"), 0o700)
	os.WriteFile(at("a"), nil, 0o600)
	os.WriteFile(at("b"), nil, 0o600)
	os.Link(at("a"), at("hard"))
	os.Symlink("a", at("soft"))
	os.Symlink("sub", at("dir"))
	t.Chdir(dir)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{at("a"), at("a"), true},
		{"a", at("a"), true},
		{"./sub/../a", "a", true},
		{"hard", "a", true},
		{"soft", "a", true},
		{"a", "b", false},
		{"a", "none", false},
		{"none", "a", false},
		{"none", "./none", true},
		{"none", "other", false},
		{"sub/new", "dir/new", true},
		{"sub/new", "new", false},
		{"x/new", "y/new", false},
		{"x/new", "./x/new", true},
	} {
		if got, err := SameFile(c.a, c.b); got != c.want || err != nil {
			t.Errorf("%s, %s: %v, %v", c.a, c.b, got, err)
		}
	}
	os.Symlink("ring", at("ring")) // can't be looked at, by root neither
	for _, c := range [][2]string{{"a", "ring"}, {"ring", "a"}} {
		if _, err := SameFile(c[0], c[1]); err == nil || !strings.HasPrefix(err.Error(), "looking at ring: ") || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s, %s: %v", c[0], c[1], err)
		}
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	ago := func(d time.Duration) string { return fmt.Sprintf("%08x", time.Now().Add(-d).Unix()) }
	touch := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		os.WriteFile(path, nil, 0o600)
		os.Chtimes(path, time.Now(), time.Now().Add(-age))
	}
	const r = "0123456789abcdef"
	gone := ".hist-" + ago(2*time.Hour) + "-" + r + ".tmp"
	touch(gone, 2*time.Hour)
	stay := []string{
		".hist-" + ago(time.Minute) + "-" + r + ".tmp", // young, though its time was set back already
		".hist-" + r + ".tmp", "hist-" + ago(2*time.Hour) + "-" + r + ".tmp", ".hist-" + ago(2*time.Hour) + "-" + r + ".tmp.jsonl",
		".hist-zzzzzzzz-" + r + ".tmp", "a.jsonl",
	}
	for _, name := range stay {
		touch(name, 2*time.Hour)
	}
	fresh := ".hist-" + ago(3*time.Hour) + "-" + r + ".tmp" // a long write that goes on
	touch(fresh, time.Minute)
	os.Mkdir(filepath.Join(dir, ".hist-"+ago(4*time.Hour)+"-"+r+".tmp"), 0o700)
	removed, err := Sweep(dir)
	if err != nil || len(removed) != 1 || filepath.Base(removed[0]) != gone {
		t.Error(removed, err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != len(stay)+2 {
		t.Error(left)
	}
	if _, err := Sweep(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
