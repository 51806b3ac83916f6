package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
)

// journalName is the file of a run to which each step behind the first one adds an entry, so that in a run of many files the last one
// costs no more to record than the second.
const journalName = "files.jsonl"

// entry is one step of a run. Exactly one of File, Dropped and UndoneAt is set.
type entry struct {
	Index    int       `json:"index"`             // the file's index in the run, from 0
	File     *File     `json:"file,omitempty"`    // the file's present state: of a new file, or of one whose state has changed
	Dropped  bool      `json:"dropped,omitempty"` // the file was not published and no longer belongs to the run; always the last one
	UndoneAt time.Time `json:"undone_at,omitzero"`
}

// sealed is a line of the journal. SHA256 is the hash of the previous line's SHA256 and of Entry as it is written, so that
// no line can be changed, removed or moved unnoticed. The first line follows the hash of the manifest.
type sealed struct {
	SHA256 string          `json:"sha256"`
	Entry  json.RawMessage `json:"entry"`
}

// line returns the only form in which a sealed entry is written and accepted.
func (s sealed) line() []byte {
	return fmt.Appendf(nil, `{"sha256":"%s","entry":%s}`, s.SHA256, s.Entry)
}

// seal returns the SHA-256 of an entry that follows another, whose seal is previous.
func seal(previous string, text []byte) string {
	h := sha256.New()
	h.Write([]byte(previous))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// record writes the state of one file to the journal. It need not be synced if the state can be found out again after a
// crash.
func (r *Run) record(index int, sync bool) error {
	return r.note(entry{Index: index, File: &r.Manifest.Files[index]}, sync)
}

// drop removes the last file, which was not published, from the run.
func (r *Run) drop() error {
	last := len(r.Manifest.Files) - 1
	r.Manifest.Files = r.Manifest.Files[:last]
	return r.note(entry{Index: last, Dropped: true}, true)
}

// note adds an entry to the journal.
func (r *Run) note(e entry, sync bool) error {
	if err := r.add(e, sync); err != nil {
		if errors.Is(err, publish.ErrPublished) { // the record was, which says nothing of the session
			err = errors.New(err.Error())
		}
		return fmt.Errorf("writing the record of run %s: %w", r.Manifest.Run, room(err))
	}
	return nil
}

func (r *Run) add(e entry, sync bool) error {
	if r.last == "" || r.Manifest.Schema == 1 {
		return r.save()
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	sum := seal(r.last, text)
	line := append(sealed{sum, text}.line(), '\n')
	f, err := os.OpenFile(filepath.Join(r.dir, journalName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.size+r.torn {
		return fmt.Errorf("%s: another hist is working on this run", f.Name())
	}
	if r.torn > 0 { // a crash left part of a line
		if err := f.Truncate(r.size); err != nil {
			return err
		}
		r.torn = 0
	}
	_, err = f.WriteAt(line, r.size)
	if r.size == 0 {
		r.named.Store(true)
	}
	if err == nil && sync {
		err = r.sync(f)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(r.size))
	}
	r.size, r.last = r.size+int64(len(line)), sum
	return f.Close()
}

// sync makes the journal durable, and the names in the run's directory that its entries name.
func (r *Run) sync(journal *os.File) error {
	if err := publish.Sync(journal); err != nil {
		return err
	}
	if !r.named.Swap(false) {
		return nil
	}
	err := publish.SyncDir(r.dir)
	if err != nil {
		r.named.Store(true)
	}
	return err
}

// save writes the manifest, which lists the files that there are so far: of a run of one file, it is the whole record of what is about to
// happen, and one file and one directory to sync. That directory's other names become durable with it.
func (r *Run) save() error {
	data, err := r.Manifest.text()
	if err != nil {
		return err
	}
	if err := r.write(manifestName, data, false); err != nil {
		return err
	}
	r.named.Store(false)
	r.last = seal("", data)
	return nil
}

// text is the form in which a manifest is written: from version 3 on it has its own hash in it, as its last field.
func (m *Manifest) text() ([]byte, error) {
	data, err := json.MarshalIndent(manifestFile{Manifest: *m}, "", "  ")
	if err == nil && m.Schema == schema {
		data, err = json.MarshalIndent(manifestFile{*m, seal("", data)}, "", "  ")
	}
	return append(data, '\n'), err
}

// sealedBy says whether the hash in a manifest's text is that of the text itself, as it stands there, without the hash.
func sealedBy(sha string, text []byte) bool {
	rest, ok := bytes.CutSuffix(text, fmt.Appendf(nil, ",\n  \"sha256\": \"%s\"\n}\n", sha))
	return ok && sha == seal("", slices.Concat(rest, []byte("\n}")))
}

// readJournal applies the journal from its first line on. A last line without a newline was cut off by a crash.
func (r *Run) readJournal() error {
	path := filepath.Join(r.dir, journalName)
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the record of a repair: %w", err)
	}
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			r.torn = int64(len(line))
			return nil
		}
		if err := r.apply(line); err != nil {
			return fmt.Errorf("%s:%d: %w: %w", path, number, ErrDamaged, err)
		}
		r.size += int64(len(line)) + 1
		data = rest
	}
}

// apply checks one line of the journal and applies it to the manifest.
func (r *Run) apply(line []byte) error {
	var s sealed
	if err := strict(line, &s); err != nil {
		return err
	}
	if s.SHA256 != seal(r.last, s.Entry) || !bytes.Equal(line, s.line()) {
		return errors.New("its hash does not match")
	}
	var e entry
	if err := strict(s.Entry, &e); err != nil {
		return err
	}
	m := &r.Manifest
	switch {
	case e.File != nil && !e.Dropped && e.UndoneAt.IsZero():
		if err := e.File.check(); err != nil {
			return err
		}
		switch {
		case e.Index == len(m.Files):
			m.Files = append(m.Files, *e.File)
		case e.Index >= 0 && e.Index < len(m.Files) && m.Files[e.Index].same(e.File):
			m.Files[e.Index] = *e.File
		default:
			return fmt.Errorf("file %d is neither the next one nor one of the run", e.Index)
		}
	case e.File == nil && e.Dropped && e.UndoneAt.IsZero() && e.Index == len(m.Files)-1 && e.Index >= 0:
		m.Files = m.Files[:e.Index]
	case e.File == nil && !e.Dropped && !e.UndoneAt.IsZero():
		m.UndoneAt = e.UndoneAt
	default:
		return errors.New("it is not a step of a run")
	}
	r.last = s.SHA256
	return nil
}

// strict decodes JSON that may have no other fields than v.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something follows its end")
	}
	return nil
}
