package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// schema is the version of the record that this package writes: manifest.json identifies the run and lists its first file, and the journal
// says what happened after that. Older ones can still be read and undone: in version 2 the journal listed the first file, too, and in
// version 1 the manifest listed all, and was written anew at each step.
const schema = 3

// The ways in which a repaired file reaches the disk.
const (
	InPlace   = "in-place"   // the session's own file was replaced
	NewThread = "new-thread" // a copy under a new thread id was made beside it
	Output    = "output"     // a copy was written to a path that the user named
	Moved     = "moved"      // a database that no client can open was moved into the run
	View      = "view"       // the file stayed as it was; rows about it in its client's database were cleared
)

// Manifest is the record of a run. Its JSON form is that of manifest.json.
type Manifest struct {
	Schema   int       `json:"schema"`
	Run      string    `json:"run"`  // its id, which is also the name of its directory
	Tool     string    `json:"tool"` // "hist"
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	UndoneAt time.Time `json:"undone_at,omitzero"` // when the last file was undone; zero: not undone
	Files    []File    `json:"files"`
	CutOff   bool      `json:"-"` // not recorded: the run ended during a repair in place, and the file is not the original, as Load and ListSettled find, or it keeps an original of which no record says more
}

// State is what can still be done about a run.
type State string

// The states of a run.
const (
	Open      State = "can be undone"
	InPart    State = "undone in part"
	WasUndone State = "undone"
	CutOff    State = "was cut off" // it is not known what it did, and it may keep the only copy of an original
	Nothing   State = "changed nothing"
)

// State is what can still be done about the run. Unless Load or ListSettled returned the manifest, a run that was cut off by
// a crash may seem to have changed nothing.
func (m *Manifest) State() State {
	pending, undone := false, false
	for i := range m.Files {
		pending = pending || m.Files[i].pending()
		undone = undone || m.Files[i].Undone
	}
	switch {
	case !m.UndoneAt.IsZero():
		return WasUndone
	case undone:
		return InPart
	case pending:
		return Open
	case m.CutOff:
		return CutOff
	}
	return Nothing
}

// Unrecorded says whether the run keeps an original, but no record of what it did.
func (m *Manifest) Unrecorded() bool { return m.CutOff && len(m.Files) == 0 }

// Live says whether the run keeps something that may still be needed.
func (s State) Live() bool { return s != WasUndone && s != Nothing }

// File is one file that a run made or replaced. Sizes are in bytes, hashes in lower-case hexadecimal.
type File struct {
	Source        string      `json:"source"` // absolute path of the session that was repaired
	Target        string      `json:"target"` // absolute path of what was written; Source or not
	Mode          string      `json:"mode"`   // InPlace, NewThread, Output, Moved or View
	SizeBefore    int64       `json:"size_before"`
	SizeAfter     int64       `json:"size_after"`
	SHA256Before  string      `json:"sha256_before"`
	SHA256After   string      `json:"sha256_after"`
	Backup        string      `json:"backup,omitempty"`    // the original's copy in the run directory; in-place only
	SetAside      string      `json:"set_aside,omitempty"` // what was taken out of the session, in the run directory
	Rows          string      `json:"rows,omitempty"`      // what the client's database held about the session, in the run directory
	RowsSHA256    string      `json:"rows_sha256,omitempty"`
	Log           string      `json:"log,omitempty"` // moved: the -wal file, in the run directory
	LogSHA256     string      `json:"log_sha256,omitempty"`
	Shared        string      `json:"shared,omitempty"` // moved: the -shm file, in the run directory
	SharedSHA256  string      `json:"shared_sha256,omitempty"`
	Home          string      `json:"home,omitempty"`         // the agent's home that Target is in
	DiffersFrom   int64       `json:"differs_from,omitempty"` // in place: up to this offset the target is the same as the original; 0 in older records
	Perm          fs.FileMode `json:"perm,omitempty"`         // the original's permission bits; 0: undo keeps the target's
	ModTimeBefore time.Time   `json:"mod_time_before,omitzero"`
	Plan          string      `json:"plan,omitempty"`   // which changes to a healthy session made the copy: the same ones make no second copy
	Common        bool        `json:"common,omitempty"` // in place: a client's list or settings. What was appended since stays at an undo; changed otherwise, it stays whole
	Published     bool        `json:"published"`        // Target is known to have been written
	Undone        bool        `json:"undone,omitempty"`
}

// manifestFile is the content of a run's manifest.json. SHA256 is the hash of the text without it; versions before 3 have none.
type manifestFile struct {
	Manifest
	SHA256 string `json:"sha256,omitempty"`
}

// rawPaths holds paths that are not valid UTF-8, which JSON would change.
type rawPaths struct {
	SourceBytes []byte `json:"source_bytes,omitempty"`
	TargetBytes []byte `json:"target_bytes,omitempty"`
	HomeBytes   []byte `json:"home_bytes,omitempty"`
}

type plainFile File

// MarshalJSON keeps paths that are not valid UTF-8 in fields of their own.
func (f File) MarshalJSON() ([]byte, error) {
	raw := func(path string) []byte {
		if utf8.ValidString(path) {
			return nil
		}
		return []byte(path)
	}
	return json.Marshal(struct {
		plainFile
		rawPaths
	}{plainFile(f), rawPaths{raw(f.Source), raw(f.Target), raw(f.Home)}})
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (f *File) UnmarshalJSON(b []byte) error {
	var in struct {
		plainFile
		rawPaths
	}
	if err := strict(b, &in); err != nil {
		return err
	}
	*f = File(in.plainFile)
	for path, raw := range map[*string][]byte{&f.Source: in.SourceBytes, &f.Target: in.TargetBytes, &f.Home: in.HomeBytes} {
		if raw != nil {
			*path = string(raw)
		}
	}
	return nil
}

// ErrDamaged says that the record of a run is not what hist wrote. Such a record is never acted on.
var ErrDamaged = errors.New("the record of the run is damaged, so that nothing can be undone by it")

var hashFormat = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check returns an error if a file's entry holds anything that a repair would never have written. An undo acts on the whole
// entry, so a single wrong field makes it useless.
func (f *File) check() error {
	for _, path := range []string{f.Source, f.Target} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return fmt.Errorf("%q is not an absolute path", path)
		}
	}
	for _, name := range []string{f.Backup, f.SetAside, f.Rows, f.Log, f.Shared} {
		if name != "" && !plainName(name) {
			return fmt.Errorf("%q is not the name of a file in the run", name)
		}
	}
	if !hashFormat.MatchString(f.SHA256Before) || !hashFormat.MatchString(f.SHA256After) || (f.Rows != "") != hashFormat.MatchString(f.RowsSHA256) {
		return fmt.Errorf("%s: a hash is missing or malformed", f.Target)
	}
	if (f.Log != "") != hashFormat.MatchString(f.LogSHA256) || (f.Shared != "") != hashFormat.MatchString(f.SharedSHA256) || f.Mode != Moved && f.Log+f.Shared != "" {
		return fmt.Errorf("%s: what is kept beside a database does not go with its hashes or its mode", f.Target)
	}
	if f.SizeBefore < 0 || f.SizeAfter < 0 || f.DiffersFrom < 0 || f.Perm&^0o777 != 0 {
		return fmt.Errorf("%s: a size, an offset or the mode is out of range", f.Target)
	}
	if f.Home != "" && !filepath.IsAbs(f.Home) {
		return fmt.Errorf("%q is not an absolute path", f.Home)
	}
	return f.checkMode()
}

// checkMode checks that paths and backup fit the way in which the file reached the disk.
func (f *File) checkMode() error {
	ok := false
	switch f.Mode {
	case InPlace:
		// The plain form of a compressed session may stand beside it.
		ok = (f.Source == f.Target || f.Source == f.Target+".zst") && f.isBackup(f.Backup)
	case NewThread, Output:
		ok = f.Source != f.Target && f.Backup == "" && f.Rows == ""
	case Moved:
		ok = f.Source == f.Target && f.isBackup(f.Backup) && f.Rows == "" && f.SizeAfter == 0
	case View:
		ok = f.Source == f.Target && f.Backup == "" && f.Rows != "" && f.SHA256Before == f.SHA256After && f.SizeBefore == f.SizeAfter
	default:
		return fmt.Errorf("%s: there is no mode %q", f.Target, f.Mode)
	}
	if !ok {
		return fmt.Errorf("%s: its paths and its backup don't go with the mode %q", f.Target, f.Mode)
	}
	return nil
}

// isBackup says whether a name is one that Backup gives to the copy of this file's original.
func (f *File) isBackup(name string) bool {
	number, of, ok := strings.Cut(strings.TrimPrefix(name, "original-"), "-")
	return ok && strings.HasPrefix(name, "original-") && number != "" && strings.Trim(number, "0123456789") == "" && of == safeName(filepath.Base(f.Source))
}

// same says whether two entries are about the same file. They may differ only in Published and Undone.
func (f *File) same(other *File) bool {
	a, b := *f, *other
	a.Published, a.Undone = b.Published, b.Undone
	if !a.ModTimeBefore.Equal(b.ModTimeBefore) {
		return false
	}
	a.ModTimeBefore = b.ModTimeBefore
	return a == b
}
