package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

var ctx = context.Background()

const (
	before = "{\"n\":1}\n{\"n\":2\n"
	after  = "{\"n\":1}\n{\"n\":2}\n"
)

var old = time.Date(2025, 3, 4, 5, 6, 7, 123456000, time.UTC)

// state gives the test its own place for runs, and returns a directory for sessions.
func state(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	return t.TempDir()
}

func put(t *testing.T, path, data string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingButUnread: where no record of a run can be read, an undo says why, and not that there is none.
func TestNothingButUnread(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	os.Mkdir(filepath.Join(state, "hist"), 0o700)
	os.WriteFile(filepath.Join(state, "hist", "runs"), nil, 0o600) // no directory
	if _, err := Load(""); err == nil || errors.Is(err, ErrNoRun) || !strings.HasPrefix(err.Error(), "reading the records of repairs: ") {
		t.Error(err)
	}
}

func begin(t *testing.T) *Run {
	t.Helper()
	r, err := New("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inPlace repairs path in place as a caller would.
func inPlace(t *testing.T, r *Run, path string, last func() error) error {
	t.Helper()
	rel, sha, err := r.backupOf(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(path)
	f := File{Source: path, Target: path, Mode: InPlace, SizeBefore: info.Size(), SHA256Before: sha, Backup: rel, ModTimeBefore: info.ModTime()}
	target := publish.Target{Path: path, Replace: true, Mode: info.Mode(), ModTime: info.ModTime(), Owner: info}
	return r.Publish(ctx, &f, target, text(after), publish.Checks{Last: last})
}

// copied writes a repaired copy.
func copied(t *testing.T, r *Run, src, dst string) error {
	t.Helper()
	sha, size, err := Hash(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	return r.Publish(ctx, &File{Source: src, Target: dst, Mode: NewThread, SizeBefore: size, SHA256Before: sha}, publish.Target{Path: dst}, text(after), publish.Checks{})
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func load(t *testing.T, id string) *Run {
	t.Helper()
	r, err := Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUndoRoundTrip(t *testing.T) {
	dir := state(t)
	a, b := put(t, filepath.Join(dir, "a.jsonl"), before), put(t, filepath.Join(dir, "b.jsonl"), before)
	c := filepath.Join(dir, "c.jsonl")
	r := begin(t)
	if err := errors.Join(inPlace(t, r, a, nil), copied(t, r, b, c)); err != nil {
		t.Fatal(err)
	}
	holds(t, a, after)
	holds(t, c, after)
	f := load(t, "").Manifest.Files
	if len(f) != 2 || !f[0].Published || f[0].SizeAfter != int64(len(after)) || f[0].SHA256After == "" || f[0].SHA256After != f[1].SHA256After {
		t.Errorf("%+v", f)
	}
	os.Chtimes(a, time.Now(), time.Now())

	done, err := load(t, r.Manifest.Run).Undo(ctx, nil)
	if err != nil || len(done) != 2 || done[0] != (Undone{a, Restored, ""}) || done[1] != (Undone{c, Removed, ""}) {
		t.Fatal(done, err)
	}
	holds(t, a, before)
	if info, _ := os.Stat(a); !info.ModTime().Equal(old) || info.Mode() != 0o640 {
		t.Errorf("%v %v", info.ModTime(), info.Mode())
	}
	if _, err := os.Stat(c); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the copy is still there")
	}
	if _, err := load(t, r.Manifest.Run[:17]).Undo(ctx, nil); !errors.Is(err, ErrUndone) {
		t.Error(err)
	}
	if _, err := Load(""); !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
	list, err := List()
	if err != nil || len(list) != 1 || list[0].UndoneAt.IsZero() || list[0].Version != "1.2.3" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestPublishFails(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	boom := errors.New("boom")
	err := inPlace(t, r, a, func() error {
		if f := onDisk(t, r).Files; len(f) != 1 || f[0].Published || f[0].SHA256After == "" {
			t.Errorf("the intent is not on the disk: %+v", f)
		}
		return boom
	})
	if !errors.Is(err, boom) || len(r.Manifest.Files) != 0 || len(onDisk(t, r).Files) != 0 {
		t.Errorf("%v, %+v", err, r.Manifest.Files)
	}
	holds(t, a, before)
	sha, size, _ := Hash(ctx, a)
	f := File{Source: a, Target: a + ".copy", Mode: Output, SHA256Before: sha, SizeBefore: size}
	err = r.Publish(ctx, &f, publish.Target{Path: f.Target}, text(after), publish.Checks{Content: func(string) error { return boom }})
	if !errors.Is(err, boom) || len(r.Manifest.Files) != 0 || len(onDisk(t, r).Files) != 0 {
		t.Errorf("what is no good copy is recorded: %v, %+v", err, r.Manifest.Files)
	}
	if err := copied(t, r, a, a); !errors.Is(err, publish.ErrExists) {
		t.Error(err)
	}
	for _, f := range []File{
		{Source: a, Target: a, Mode: InPlace},
		{Source: a, Target: a, Mode: NewThread},
		{Source: "a.jsonl", Target: a, Mode: InPlace, Backup: "x", SHA256Before: "x"},
	} {
		if err := r.Publish(ctx, &f, publish.Target{Path: a, Replace: true}, text(after), publish.Checks{}); err == nil {
			t.Errorf("published %+v", f)
		}
	}
	holds(t, a, before)
	if err := r.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("discarded and still there")
	}
}

func onDisk(t *testing.T, r *Run) Manifest {
	t.Helper()
	got, err := read(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	return got.Manifest
}

// TestRecordFails loses the run's directory in the midst of a repair: nothing may be published without its record.
func TestRecordFails(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	rel, sha, _ := r.backupOf(ctx, a)
	f := File{Source: a, Target: a, Mode: InPlace, SHA256Before: sha, Backup: rel}
	err := r.Publish(ctx, &f, publish.Target{Path: a, Replace: true}, func(w io.Writer) error {
		os.RemoveAll(r.Path())
		return text(after)(w)
	}, publish.Checks{})
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, publish.ErrPublished) {
		t.Error(err)
	}
	holds(t, a, before)

	r = begin(t)
	err = inPlace(t, r, a, func() error { return os.RemoveAll(r.Path()) })
	if !errors.Is(err, publish.ErrPublished) { // it is there, and the caller hears of the lost record
		t.Error(err)
	}
	holds(t, a, after)
}

// TestRivalWroteTheSame: a run that was refused at the last moment has not published what another run wrote meanwhile, be it
// the same bytes.
func TestRivalWroteTheSame(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	busy := errors.New("busy")
	err := inPlace(t, r, a, func() error { put(t, a, after); return busy })
	if !errors.Is(err, busy) || errors.Is(err, publish.ErrPublished) {
		t.Error(err)
	}
	if m := onDisk(t, r); len(m.Files) != 0 {
		t.Errorf("the run lists %+v", m.Files)
	}
}

func TestBackupAndSetAside(t *testing.T) {
	dir := state(t)
	big := string(bytes.Repeat([]byte("0123456789\n"), 300000))
	hostile := put(t, filepath.Join(dir, "..\x1b[31m rollout\n"+strings.Repeat("é", 50)+".jsonl"), big)
	r := begin(t)
	rel, sha, err := r.backupOf(ctx, hostile)
	if err != nil || strings.ContainsAny(rel, "\x1b\n é/") {
		t.Fatalf("%q %v", rel, err)
	}
	holds(t, filepath.Join(r.Path(), rel), big)
	if got, size, err := Hash(ctx, hostile); got != sha || size != int64(len(big)) || err != nil {
		t.Error(got, size, err)
	}
	again, _, err := r.backupOf(ctx, hostile)
	if err != nil || again == rel {
		t.Error(again, err)
	}
	if _, _, err := r.backupOf(ctx, dir); !errors.Is(err, source.ErrNotRegular) {
		t.Error(err)
	}
	c, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := r.backupOf(c, hostile); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	for _, want := range []string{"a.jsonl", "2-a.jsonl", "_.._x"} {
		name := strings.TrimPrefix(want, "2-")
		if want == "_.._x" {
			name = "../../x"
		}
		w, rel, err := r.SetAside(name)
		if err != nil || rel != want {
			t.Fatal(rel, err)
		}
		io.WriteString(w, name)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		holds(t, filepath.Join(r.Path(), rel), name)
	}
	names := []string{"a", "a", "", ".", "..", "../x", "/etc/x", `a\b`, "manifest.json", strings.Repeat("x", 300)}
	for _, name := range names {
		if err := r.WriteReport(name, ".report.json", []byte("{}")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if there, err := filepath.Glob(filepath.Join(r.Path(), "*.report.json")); err != nil || len(there) != len(names) {
		t.Errorf("%d reports of %d: %q", len(there), len(names), there)
	}
	filepath.WalkDir(r.Path(), func(path string, d fs.DirEntry, _ error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: fs.ModeDir | 0o700, false: 0o600}[d.IsDir()]; info.Mode() != want {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
}

func TestDiscardKeeps(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	if err := inPlace(t, r, a, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Discard(); !errors.Is(err, ErrKept) {
		t.Error(err)
	}
	// Neither if the record does not say so and the file has moved on.
	r.Manifest.Files[0].Published = false
	add(a)
	if err := r.Discard(); !errors.Is(err, ErrKept) {
		t.Error(err)
	}
	if _, err := r.Undo(ctx, nil); !errors.Is(err, ErrMovedOn) {
		t.Error(err)
	}
}

func TestLoadAndList(t *testing.T) {
	dir := state(t)
	if list, err := List(); list == nil && err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	first := begin(t)
	if err := copied(t, first, a, filepath.Join(dir, "b.jsonl")); err != nil {
		t.Fatal(err)
	}
	second := begin(t)
	if err := copied(t, second, a, filepath.Join(dir, "c.jsonl")); err != nil {
		t.Fatal(err)
	}
	empty := begin(t)
	if r := load(t, ""); r.Manifest.Run != second.Manifest.Run {
		t.Error("not the newest that changed something")
	}
	list, err := List()
	if err != nil || len(list) != 2 || list[1].Run != first.Manifest.Run {
		t.Errorf("%+v %v", list, err)
	}
	for id, want := range map[string]error{
		"../x": ErrBadID, "2/": ErrBadID, "..": ErrBadID, "\x1b": ErrBadID, first.Manifest.Run + "0": ErrBadID, "x": ErrBadID,
		"19991231T000000Z-000000": ErrNoRun, first.Manifest.Run[:4]: ErrAmbiguous,
	} {
		if _, err := Load(id); !errors.Is(err, want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", id, err)
		}
	}
	for text, want := range map[string]error{
		"{": ErrDamaged, `{"schema":4}`: ErrNewer, `{"schema":3}`: ErrDamaged, `{"schema":2}`: ErrDamaged, `{"schema":0}`: ErrDamaged, `{"schema":1,"run":"other"}`: ErrDamaged,
		`{"schema":1,"run":"` + empty.Manifest.Run + `","files":[{"source":"/a","target":"/a","backup":"../x"}]}`: ErrDamaged,
		`{"schema":1,"run":"` + empty.Manifest.Run + `","files":[{"source":"/a","target":"a"}]}`:                  ErrDamaged,
	} {
		os.WriteFile(filepath.Join(empty.Path(), manifestName), []byte(text), 0o600)
		if _, err := Load(empty.Manifest.Run); err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), empty.Path()) {
			t.Errorf("%s: %v", text, err)
		}
		if list, err := List(); err == nil || len(list) != 2 {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
	// Without a name the newest is meant, not the one before it.
	os.WriteFile(filepath.Join(empty.Path(), manifestName), []byte("{"), 0o600)
	if _, err := Load(""); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), second.Manifest.Run) {
		t.Error(err)
	}
	os.Remove(filepath.Join(empty.Path(), manifestName))
	if list, err := List(); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	put(t, filepath.Join(empty.Path(), journalName), "")
	if _, err := List(); err == nil {
		t.Error("a run without its manifest is passed over")
	}
}

func TestDir(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for env, want := range map[string]string{
		"": filepath.Join(home, ".local", "state", "hist", "runs"), "relative": filepath.Join(home, ".local", "state", "hist", "runs"),
		home: filepath.Join(home, "hist", "runs"),
	} {
		t.Setenv("XDG_STATE_HOME", env)
		if got, err := Dir(); got != want || err != nil {
			t.Errorf("%q: %s %v", env, got, err)
		}
	}
}

// TestHomeThatIsNoText: the record of a session in such a home is read, also one in which an older version has written U+FFFD.
func TestHomeThatIsNoText(t *testing.T) {
	home := state(t) + "/h\xff"
	f := File{Source: home + "/a.jsonl", Target: home + "/b.jsonl", Mode: Output, SHA256Before: strings.Repeat("0", 64), SHA256After: strings.Repeat("1", 64), Home: home}
	r := begin(t)
	r.Manifest.Files = []File{f}
	if err := r.record(0, true); err != nil {
		t.Fatal(err)
	}
	if m := onDisk(t, r); m.Files[0] != f {
		t.Errorf("%+v", m.Files)
	}
	path := filepath.Join(r.Path(), manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := bytes.Cut(data, []byte(",\n  \"sha256\": "))
	body = regexp.MustCompile(`,\s*"home_bytes": "[^"]*"`).ReplaceAll(body, nil)
	sha := seal("", append(bytes.Clone(body), "\n}"...))
	if err := os.WriteFile(path, fmt.Appendf(body, ",\n  \"sha256\": %q\n}\n", sha), 0o600); err != nil {
		t.Fatal(err)
	}
	if m := onDisk(t, r); m.Files[0].Home != strings.ToValidUTF8(home, "\uFFFD") || m.Files[0].Source != f.Source {
		t.Errorf("%+v", m.Files)
	}
}

// TestLostRecord: a run that keeps an original or a report is never one that changed nothing, whatever of its record is lost.
func TestLostRecord(t *testing.T) {
	rec := recordRun(t)
	for name := range rec.files {
		os.Remove(filepath.Join(rec.dir, name))
	}
	list, bad := ListSettled(ctx)
	if len(bad) > 0 || len(list) != 1 || list[0].State() != CutOff || !list[0].Unrecorded() {
		t.Errorf("%+v, %v", list, bad)
	}
	if _, err := load(t, rec.run).Undo(ctx, nil); !errors.Is(err, ErrUnrecorded) || !strings.Contains(err.Error(), rec.dir) {
		t.Error(err)
	}
	rec.write(t, "a.jsonl.report.json", []byte("{}"))
	if list, bad := ListSettled(ctx); len(bad) != 1 || len(list) > 0 {
		t.Errorf("%+v, %v", list, bad)
	}
}

func TestPathsThatAreNotText(t *testing.T) {
	dir := state(t)
	a := filepath.Join(dir, "a\xff.jsonl")
	if err := os.WriteFile(a, []byte(before), 0o600); err != nil {
		t.Skip("such names are not possible here:", err)
	}
	r := begin(t)
	if err := inPlace(t, r, a, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, "").Undo(ctx, nil); err != nil {
		t.Error(err)
	}
	holds(t, a, before)
}

// TestJournalGrowsByTheFile: a run of many files writes for the last one what it writes for the first.
func TestJournalGrowsByTheFile(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	var sizes []int64
	var manifest os.FileInfo
	for i := range 40 {
		if err := copied(t, r, a, filepath.Join(dir, fmt.Sprintf("copy%02d.jsonl", i))); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // it begins the manifest
			manifest, _ = os.Stat(filepath.Join(r.Path(), manifestName))
			continue
		}
		info, err := os.Stat(filepath.Join(r.Path(), journalName))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	for i := range sizes[:38] {
		if grown := sizes[i+1] - sizes[i]; grown > sizes[0]+10 {
			t.Errorf("file %d: %d bytes, the second one %d", i+3, grown, sizes[0])
		}
	}
	if now, err := os.Stat(filepath.Join(r.Path(), manifestName)); err != nil || !os.SameFile(manifest, now) || !now.ModTime().Equal(manifest.ModTime()) {
		t.Error("the manifest was written anew")
	}
	if m := onDisk(t, r); len(m.Files) != 40 || !m.Files[39].Published {
		t.Errorf("%d files", len(m.Files))
	}
}

// A disk that fails while the record is synced is told of as that, and the run goes on once it works again.
func TestSyncFails(t *testing.T) {
	dir := state(t)
	r := begin(t)
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := copied(t, r, put(t, filepath.Join(dir, name), before), filepath.Join(dir, "copy-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	c, sync, failing := put(t, filepath.Join(dir, "c.jsonl"), before), publish.Sync, errors.New("input/output error")
	publish.Sync = func(f *os.File) error {
		if filepath.Base(f.Name()) == journalName {
			return failing
		}
		return sync(f)
	}
	err := copied(t, r, c, filepath.Join(dir, "copy-c.jsonl"))
	publish.Sync = sync
	if !errors.Is(err, failing) || strings.Contains(err.Error(), "another hist") {
		t.Error(err)
	}
	if err := copied(t, r, c, filepath.Join(dir, "again.jsonl")); err != nil {
		t.Error(err)
	}
	if m := load(t, r.Manifest.Run).Manifest; len(m.Files) != 3 {
		t.Errorf("the run has %d files", len(m.Files))
	}
}

// Nothing was published if the run's directory can't be synced, although the manifest is in it.
func TestDirectorySyncFails(t *testing.T) {
	dir := state(t)
	r := begin(t)
	a, b, sync := put(t, filepath.Join(dir, "a.jsonl"), before), filepath.Join(dir, "b.jsonl"), publish.Sync
	publish.Sync = func(f *os.File) error {
		if f.Name() == r.Path() {
			return errors.New("input/output error")
		}
		return sync(f)
	}
	err := copied(t, r, a, b)
	publish.Sync = sync
	if err == nil || errors.Is(err, publish.ErrPublished) {
		t.Error(err)
	}
	if _, err := os.Stat(b); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
