package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrNoRun says that there is no such run, or none that could be undone.
	ErrNoRun = errors.New("no such run")
	// ErrAmbiguous says that the ids of several runs begin with the text.
	ErrAmbiguous = errors.New("several runs begin with this id")
	// ErrBadID says that the text cannot be a run id or the beginning of one.
	ErrBadID = errors.New("not a run id")
	// ErrNewer says that a newer version of hist wrote the manifest.
	ErrNewer = errors.New("the run was recorded by a newer version of hist")
)

// timeForm is the form of the time at the beginning of a run's id.
const (
	timeForm   = "20060102T150405Z"
	timeLength = len(timeForm)
)

const manifestName = "manifest.json"

var (
	idFormat   = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}$`)
	prefixForm = regexp.MustCompile(`^[0-9]{1,8}(T[0-9]{0,6}(Z(-[0-9a-f]{0,6})?)?)?$`)
)

// Dir returns the directory of all runs, whether or not it exists.
func Dir() (string, error) {
	dir, err := disk.StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "runs"), nil
}

// New begins a run of this version of hist: it creates the run's directory. The manifest is written with the run's first file.
func New(version string) (*Run, error) {
	root, err := Dir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory for records of repairs (set XDG_STATE_HOME to use another): %w", err)
	}
	for try := 0; ; try++ {
		now := time.Now().UTC()
		var random [3]byte
		rand.Read(random[:]) // never fails
		id := now.Format(timeForm) + "-" + hex.EncodeToString(random[:])
		dir := filepath.Join(root, id)
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("beginning a record of this repair: %w", room(err))
		}
		r := &Run{dir: dir, Manifest: Manifest{
			Schema: schema, Run: id, Tool: "hist", Version: version, Started: now, Files: []File{},
		}}
		if err := publish.SyncDir(root); err != nil {
			os.RemoveAll(dir)
			return nil, fmt.Errorf("beginning a record of this repair: %w", err)
		}
		return r, nil
	}
}

// List returns the manifests of all runs, newest first. A run whose manifest cannot be read is left out and named in
// the error, which comes with the others. Entries that a crash left open are returned as they were written: Load and
// ListSettled find out what became of them. Entries name files where they are now, if a later run has moved them.
func List() ([]Manifest, error) {
	runs, bad := all()
	out := make([]Manifest, len(runs))
	for i, r := range runs {
		out[i] = r.Manifest
	}
	follow(out)
	return out, joined(bad)
}

// follow puts, into the entries of runs, the newest first, the places to which later runs have moved their files.
func follow(list []Manifest) {
	now := map[string]string{}
	for i := range list {
		files := list[i].Files
		moved := map[string]string{}
		for k := range files {
			if f := &files[k]; f.Mode == Output && f.Published && !f.Undone && f.IsAway(files) {
				moved[f.Source] = cmp.Or(now[f.Target], f.Target)
			}
		}
		for k := range files {
			f := &files[k]
			f.Source, f.Target = cmp.Or(now[f.Source], f.Source), cmp.Or(now[f.Target], f.Target)
		}
		maps.Copy(now, moved)
	}
}

// ListSettled is List, but for entries that a crash left open it finds out from their files whether they were published, as
// Load does. It writes nothing, because a run that is under way belongs to another process. A run whose record can't be read
// is only among the unread; one of which a file can't be read is among both.
func ListSettled(ctx context.Context) ([]Manifest, []Unread) {
	runs, bad := all()
	out := make([]Manifest, len(runs))
	for i, r := range runs {
		for k := range r.Manifest.Files {
			f := &r.Manifest.Files[k]
			written, err := f.written(ctx)
			if err != nil {
				bad = append(bad, Unread{r.Manifest.Run, fmt.Errorf("finding out whether run %s was completed: %w", r.Manifest.Run, err)})
			}
			f.Published = f.Published || written
		}
		r.seeCutOff(ctx)
		out[i] = r.Manifest
	}
	return out, bad
}

// Load returns the run whose id begins with run; "" means the newest run that published something and is not undone. Whether
// files were published whose entry a crash left open is decided by their hash, for which they are read.
func Load(run string) (*Run, error) {
	if run == "" {
		return newest()
	}
	if !prefixForm.MatchString(run) {
		return nil, fmt.Errorf("%q: %w: expected something like 20261120T195345Z-ab12cd", run, ErrBadID)
	}
	root, err := Dir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the records of repairs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && idFormat.MatchString(e.Name()) && strings.HasPrefix(e.Name(), run) {
			ids = append(ids, e.Name())
		}
	}
	switch len(ids) {
	case 0:
		return nil, fmt.Errorf("%s: %w in %s", run, ErrNoRun, root)
	case 1:
	default:
		return nil, fmt.Errorf("%s: %w: %s", run, ErrAmbiguous, strings.Join(ids[:min(len(ids), 5)], ", "))
	}
	r, err := read(filepath.Join(root, ids[0]))
	if err != nil {
		return nil, err
	}
	if err := r.settle(context.Background()); err != nil {
		return nil, err
	}
	r.seeCutOff(context.Background())
	return r, nil
}

// newest returns the newest run that can be undone. If a newer one can't be read, that is an error: the user means the last
// repair, not the one before it.
func newest() (*Run, error) {
	runs, bad := all()
	for _, r := range runs {
		if !r.Manifest.UndoneAt.IsZero() {
			continue
		}
		if err := r.settle(context.Background()); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Manifest.Files, func(f File) bool { return f.pending() }) {
			continue
		}
		for _, b := range bad {
			if b.Run[:timeLength] >= r.Manifest.Run[:timeLength] { // of two in the same second it is not known which was first
				return nil, fmt.Errorf("a newer run can't be read; to undo the one before it, say hist undo %s: %w", r.Manifest.Run, b.Err)
			}
		}
		return r, nil
	}
	if len(bad) > 0 {
		return nil, joined(bad)
	}
	return nil, nothingToUndo{}
}

// nothingToUndo is ErrNoRun in the words of someone who named no run.
type nothingToUndo struct{}

func (nothingToUndo) Error() string {
	return "there is nothing to undo: every repair on record has been undone, or there is none; hist runs lists them"
}

func (nothingToUndo) Is(target error) bool { return target == ErrNoRun }

// Unread is a run of which something can't be read.
type Unread struct {
	Run string // its id; "" means that the directory of all runs can't be read
	Err error
}

// Started is when the run began, to the second, as its id says; zero if there is none.
func (u Unread) Started() time.Time {
	if len(u.Run) < timeLength {
		return time.Time{}
	}
	t, _ := time.Parse(timeForm, u.Run[:timeLength])
	return t
}

func joined(bad []Unread) error {
	var list []error
	for _, b := range bad {
		list = append(list, b.Err)
	}
	return errors.Join(list...)
}

// all reads every run, newest first, and lists those that cannot be read.
func all() ([]*Run, []Unread) {
	root, err := Dir()
	if err != nil {
		return nil, []Unread{{Err: err}}
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Unread{{Err: fmt.Errorf("reading the records of repairs: %w", err)}}
	}
	var runs []*Run
	var bad []Unread
	for _, e := range entries {
		if !e.IsDir() || !idFormat.MatchString(e.Name()) {
			continue
		}
		dir := filepath.Join(root, e.Name())
		r, err := read(dir)
		if errors.Is(err, fs.ErrNotExist) && !begun(dir) {
			continue // it has only just begun
		}
		if err != nil {
			bad = append(bad, Unread{e.Name(), err})
			continue
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *Run) int {
		return cmp.Or(b.Manifest.Started.Compare(a.Manifest.Started), strings.Compare(b.Manifest.Run, a.Manifest.Run))
	})
	return runs, bad
}

// begun says whether a run's directory holds more than a temporary file.
func begun(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") })
}

// read reads the record in dir and checks that it is what hist wrote and that no name in it leads out of dir. The error of a
// damaged one says what is left to do, because hist neither acts on it nor removes it.
func read(dir string) (*Run, error) {
	r, err := parse(dir)
	if errors.Is(err, ErrDamaged) {
		return nil, fmt.Errorf("%w; the originals that it keeps are still there: save those that you need, then remove %s", err, dir)
	}
	return r, err
}

// Report returns the report, as JSON, that a run keeps of the session with the given file name; of several with that name, of
// the first.
func Report(run, session string) ([]byte, error) {
	root, err := Dir()
	if err != nil {
		return nil, err
	}
	return disk.ReadFile(filepath.Join(root, run, safeName(session)+".report.json"))
}

// parse is read without the advice.
func parse(dir string) (*Run, error) {
	path := filepath.Join(dir, manifestName)
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && begun(dir) {
		if r, ok := unrecorded(dir); ok {
			return r, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of a repair: %w", err)
	}
	damaged := func(err error) error { return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err) }
	var of struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, damaged(err)
	}
	if of.Schema > schema {
		return nil, fmt.Errorf("%s: %w (schema %d)", path, ErrNewer, of.Schema)
	}
	m, err := decode(data)
	if err != nil {
		return nil, damaged(err)
	}
	r := &Run{dir: dir, last: seal("", data), Manifest: *m}
	switch {
	case m.Run != filepath.Base(dir):
		return nil, damaged(fmt.Errorf("it says that it belongs to run %q", m.Run))
	case m.Tool != "hist":
		return nil, damaged(fmt.Errorf("it says that %q has written it", m.Tool))
	case m.Started.IsZero():
		return nil, damaged(errors.New("it does not say when the run began"))
	}
	if m.Schema == 1 {
		return r, nil
	}
	return r, r.readJournal()
}

// decode reads a manifest of this version or an older one, and checks its files.
func decode(data []byte) (*Manifest, error) {
	in := manifestFile{Manifest: Manifest{Files: []File{}}}
	if err := strict(data, &in); err != nil {
		return nil, err
	}
	m := &in.Manifest
	switch {
	case m.Schema < 1 || m.Schema > schema:
		return nil, fmt.Errorf("there is no schema %d", m.Schema)
	case m.Schema == schema && !sealedBy(in.SHA256, data) || m.Schema < schema && in.SHA256 != "":
		return nil, errors.New("its hash does not match")
	case m.Schema == 2 && len(m.Files) > 0:
		return nil, errors.New("it lists files, which the journal does")
	}
	for i := range m.Files {
		if err := m.Files[i].check(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// unrecorded is a run without a record; ok is false if it has surely lost it: then its journal is there, or a report, which are
// written behind the record. If it keeps an original or rows, it ended before it had a record, and so before it changed anything, or it
// has lost that; which of the two is not known, so that it counts as cut off.
func unrecorded(dir string) (r *Run, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	id := filepath.Base(dir)
	r = &Run{dir: dir, Manifest: Manifest{Schema: schema, Run: id, Tool: "hist", Started: Unread{Run: id}.Started(), Files: []File{}}}
	for _, e := range entries {
		name := e.Name()
		if name == journalName || strings.HasSuffix(name, ".report.json") || strings.HasSuffix(name, ".report.html") {
			return nil, false
		}
		r.Manifest.CutOff = r.Manifest.CutOff || strings.HasPrefix(name, "original-") || strings.HasSuffix(name, ".rows.jsonl")
	}
	return r, true
}

// plainName says whether name is a plain file name, without any directory.
func plainName(name string) bool {
	return name != "" && filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, `/\`)
}

// leaving begins the name of a record that is being removed: no run is called so.
const leaving = ".removing-"

// Remove removes the record of a run. First it gets a name that is no run's, so that what a crash leaves of it is none. What
// others have left so is removed, too. One that is gone already is no error.
func Remove(run string) error {
	root, err := Dir()
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(root, run), filepath.Join(root, leaving+run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	publish.Step("leaving")
	return RemoveRest()
}

// RemoveRest removes what is left of records whose removal was cut off.
func RemoveRest() error {
	root, err := Dir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if run, ok := strings.CutPrefix(e.Name(), leaving); ok && idFormat.MatchString(run) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return err
}

// forgetting is the name of a file in the record of a run that is to be removed once the run is done, because what it keeps must not
// stay. It holds the id of the process whose run it is.
const forgetting = "forget"

// Forget marks a run: RemoveForgotten removes its record if a crash has left it.
func (r *Run) Forget() error {
	if r.has(forgetting) {
		return nil
	}
	return r.write(forgetting, []byte(strconv.Itoa(os.Getpid())), false)
}

// RemoveForgotten removes the marked records of processes that have ended.
func RemoveForgotten() error {
	root, err := Dir()
	if err != nil {
		return err
	}
	marks, err := filepath.Glob(filepath.Join(root, "*", forgetting))
	if err != nil {
		return err
	}
	for _, mark := range marks {
		run := filepath.Base(filepath.Dir(mark))
		if strings.HasPrefix(run, leaving) {
			continue
		}
		text, err := os.ReadFile(mark)
		if pid, bad := strconv.Atoi(string(text)); err != nil || bad == nil && running(pid) {
			continue
		}
		if err := Remove(run); err != nil {
			return err
		}
	}
	return RemoveRest()
}

func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}
