package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordedRun is a run that has replaced one file and made a copy of another, as it lies on the disk.
type recordedRun struct {
	run, dir         string
	replaced         string // in place
	original, copied string
	files            map[string][]byte // of the record, by name
}

func recordRun(t *testing.T) recordedRun {
	t.Helper()
	dir := state(t)
	r := begin(t)
	rec := recordedRun{run: r.Manifest.Run, dir: r.Path(), replaced: filepath.Join(dir, "a.jsonl"), original: filepath.Join(dir, "b.jsonl"), copied: filepath.Join(dir, "c.jsonl")}
	put(t, rec.replaced, before)
	put(t, rec.original, before)
	if err := errors.Join(inPlace(t, r, rec.replaced, nil), copied(t, r, rec.original, rec.copied)); err != nil {
		t.Fatal(err)
	}
	rec.files = map[string][]byte{}
	for _, name := range []string{manifestName, journalName} {
		text, err := os.ReadFile(filepath.Join(rec.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		rec.files[name] = text
	}
	return rec
}

// undoBy undoes the run by the record as it is now, and fails if anything but what the run did is undone. It restores
// everything for the next call.
func (rec recordedRun) undoBy(t *testing.T, what string) error {
	t.Helper()
	r, err := Load(rec.run)
	var done []Undone
	if err == nil {
		done, err = r.Undo(ctx, nil)
	}
	replaced, rerr := os.ReadFile(rec.replaced)
	original, oerr := os.ReadFile(rec.original)
	made, cerr := os.ReadFile(rec.copied)
	undone := err == nil
	switch {
	case rerr != nil || string(replaced) != after && !(undone && string(replaced) == before):
		t.Errorf("%s: the replaced file holds %q, %v (%v, %v)", what, replaced, rerr, done, err)
	case oerr != nil || string(original) != before:
		t.Errorf("%s: the file that was copied holds %q, %v (%v, %v)", what, original, oerr, done, err)
	case cerr == nil && string(made) != after || cerr != nil && !undone:
		t.Errorf("%s: the copy holds %q, %v (%v, %v)", what, made, cerr, done, err)
	}
	put(t, rec.replaced, after)
	put(t, rec.copied, after)
	for name, text := range rec.files {
		if err := os.WriteFile(filepath.Join(rec.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return err
}

// write replaces a file of the record by another text.
func (rec recordedRun) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(rec.dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUndoByADamagedRecord changes every third byte of a run's record, and drops, doubles and swaps its lines: an undo refuses, and
// changes nothing. Only what a crash can leave, a last line that was cut off, is passed over.
func TestUndoByADamagedRecord(t *testing.T) {
	rec := recordRun(t)
	for name, text := range rec.files {
		for i := 0; i < len(text); i += 3 {
			bad := bytes.Clone(text)
			bad[i] ^= 1 << (i % 7)
			what := fmt.Sprintf("%s, byte %d: %q for %q", name, i, bad[i], text[i])
			rec.write(t, name, bad)
			err := rec.undoBy(t, what)
			if last := name == journalName && i == len(text)-1; !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) && !last {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	journal := rec.files[journalName]
	lines := bytes.SplitAfter(journal, []byte("\n"))
	lines = lines[:len(lines)-1]
	if len(lines) != 3 {
		t.Fatalf("%d lines, want the success of one file, and the intent and the success of another:\n%s", len(lines), journal)
	}
	for i := range lines {
		for what, order := range map[string][]int{"gone": {}, "twice": {i, i}, "swapped": {(i + 1) % 3, i}} {
			var list [][]byte
			for k := range lines {
				if k == i {
					for _, n := range order {
						list = append(list, lines[n])
					}
				} else if what != "swapped" || k != (i+1)%3 {
					list = append(list, lines[k])
				}
			}
			if what == "gone" && i == len(lines)-1 {
				continue // a crash before the last step leaves this
			}
			rec.write(t, journalName, bytes.Join(list, nil))
			if err := rec.undoBy(t, fmt.Sprintf("line %d %s", i+1, what)); !errors.Is(err, ErrDamaged) {
				t.Errorf("line %d %s: %v", i+1, what, err)
			}
		}
	}
}

// TestUndoAfterACutJournal cuts the journal at many places, as a crash can: what the rest names is taken back, and the run
// goes on from there.
func TestUndoAfterACutJournal(t *testing.T) {
	rec := recordRun(t)
	journal := rec.files[journalName]
	for size := 0; size < len(journal); size += 29 {
		rec.write(t, journalName, journal[:size])
		err := rec.undoBy(t, fmt.Sprintf("cut at %d", size))
		if err != nil { // the manifest has the first file
			t.Errorf("cut at %d: %v", size, err)
		}
	}
}

// TestUndoByARecordOfVersion2: there the journal lists every file, behind a manifest that lists none.
func TestUndoByARecordOfVersion2(t *testing.T) {
	rec := recordRun(t)
	m := onDisk(t, load(t, rec.run))
	head, err := json.MarshalIndent(map[string]any{"schema": 2, "run": m.Run, "tool": m.Tool, "version": m.Version, "started": m.Started}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var journal []byte
	last := seal("", head)
	for i := range m.Files {
		text, err := json.Marshal(entry{Index: i, File: &m.Files[i]})
		if err != nil {
			t.Fatal(err)
		}
		last = seal(last, text)
		journal = append(append(journal, sealed{last, text}.line()...), '\n')
	}
	rec.files = map[string][]byte{manifestName: head, journalName: journal}
	rec.write(t, journalName, journal)
	rec.write(t, manifestName, bytes.Replace(head, []byte("hist"), []byte("hisT"), 1))
	if err := rec.undoBy(t, "damaged"); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if err := rec.undoBy(t, "as it was"); err != nil {
		t.Error(err)
	}
	m.Schema = 2
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	rec.write(t, manifestName, text)
	if err := rec.undoBy(t, "files in the manifest"); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// TestUndoByAnOldRecord takes a run back that an older version has recorded, which has no hashes over its record: what
// can be seen to be wrong is refused.
func TestUndoByAnOldRecord(t *testing.T) {
	rec := recordRun(t)
	m := onDisk(t, load(t, rec.run))
	m.Schema = 1
	old := func(change func(a, c *File)) {
		t.Helper()
		n := m
		n.Files = append([]File{}, m.Files...)
		change(&n.Files[0], &n.Files[1])
		text, err := json.MarshalIndent(n, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		rec.write(t, manifestName, text)
		os.Remove(filepath.Join(rec.dir, journalName))
	}
	for what, change := range map[string]func(a, c *File){
		"a mode that is none":        func(a, _ *File) { a.Mode = "in-plade" },
		"no mode":                    func(a, _ *File) { a.Mode = "" },
		"the mode of a copy":         func(a, _ *File) { a.Mode = NewThread },
		"the mode of an output":      func(a, _ *File) { a.Mode = Output },
		"the mode of a view":         func(a, _ *File) { a.Mode = View },
		"another source":             func(a, _ *File) { a.Source = rec.original },
		"a source that is not there": func(a, _ *File) { a.Source += "x" },
		"another target":             func(a, _ *File) { a.Target = rec.copied },
		"the target of a copy":       func(_, c *File) { c.Target = rec.original; c.SHA256After = c.SHA256Before },
		"a copy in place":            func(_, c *File) { c.Mode = InPlace },
		"a copy of what is gone":     func(_, c *File) { c.Source += "x" },
		"another backup":             func(a, _ *File) { a.Backup = manifestName },
		"no backup":                  func(a, _ *File) { a.Backup = "" },
		"another hash":               func(a, _ *File) { a.SHA256Before = strings.Repeat("0", 64) },
		"a hash cut short":           func(a, _ *File) { a.SHA256After = a.SHA256After[:63] },
		"an odd path":                func(a, _ *File) { a.Source += "/."; a.Target = a.Source },
		"a mode bit too many":        func(a, _ *File) { a.Perm |= 0o4000 },
	} {
		old(change)
		if err := rec.undoBy(t, what); err == nil {
			t.Errorf("%s: it was undone", what)
		}
	}
	old(func(*File, *File) {})
	if err := rec.undoBy(t, "as it was"); err != nil {
		t.Error(err)
	}
}

// TestStateOfACutOffRun: what power loss leaves of a repair in place counts as live, until its file is the original again.
func TestStateOfACutOffRun(t *testing.T) {
	dir := state(t)
	a := put(t, filepath.Join(dir, "a.jsonl"), before)
	r := begin(t)
	if err := inPlace(t, r, a, nil); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(r.Path(), journalName)
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(journal, bytes.Join(lines[:len(lines)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]State{after: Open, after + "more": CutOff, before: Nothing} {
		put(t, a, content)
		list, bad := ListSettled(ctx)
		if len(bad) > 0 || len(list) != 1 || list[0].State() != want || want.Live() != (want != Nothing) {
			t.Errorf("%q: %v, %v", content, list, bad)
		}
	}
}
