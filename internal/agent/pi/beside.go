package pi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// beside is what lies in the folder of a session: other sessions, among them forks, whose records have the same ids. It is looked at only
// where something is missing.
type beside struct {
	opts  *check.Options
	files []indexed // those that records are looked for in; nil until then
}

// neighbour is another session of the folder, by its header.
type neighbour struct {
	path string
	agent.About
}

type remembered struct {
	line []byte
	from string
}

// indexed is a file and where in it the last record with an id begins, by the ids as numbers.
type indexed struct {
	path string
	at   map[uint32]uint32 // no record begins behind maxFile
}

// folder is what lies in one: its files, those that were forked from a session by its id, and two with each working directory and fault, because
// one may be the session that asks.
type folder struct {
	paths []string
	forks map[string][]string
	some  []neighbour
}

// limits of what is read of a folder: bytes of a header, of a file and of all files that are read for one session, and how many are looked into.
const (
	headSize  = 64 << 10
	maxFile   = 64 << 20
	maxFolder = 256 << 20
	maxFiles  = 256
)

// What was read of folders and of files in them, for all sessions that lie there.
var (
	folders = disk.Recall[folder]{Limit: 1 << 16}
	heads   = disk.Recall[agent.About]{Limit: 1 << 16}
	places  = disk.Recall[map[uint32]uint32]{Limit: 2 << 20}
)

// folder is that of the session.
func (b *beside) folder() folder {
	if b.opts.Path == "" {
		return folder{}
	}
	if b.opts.Asked != nil {
		b.opts.Asked()
	}
	dir := filepath.Dir(b.opts.Path)
	return folders.Of(dir, func() (all folder, size int) {
		all.paths, _ = filepath.Glob(filepath.Join(walk.Literal(dir), "*"+extension)) // the pattern is sound
		all.forks = map[string][]string{}
		seen := map[[2]string]int{}
		for _, p := range all.paths {
			is := aboutFile(p)
			if from := is.Info.ForkedFrom; from != "" {
				all.forks[from] = append(all.forks[from], p)
			}
			kind := [2]string{is.Fault, is.Info.CWD}
			if seen[kind]++; seen[kind] <= 2 && (is.Rule == ruleWrongHeader || is.Info.CWD != "") {
				all.some = append(all.some, neighbour{p, is})
			}
		}
		return all, len(all.paths)
	})
}

// neighbours are other sessions of the folder: of each working directory, and of those whose header is wrong, at least one.
func (b *beside) neighbours() (list []neighbour) {
	for _, n := range b.folder().some {
		if n.path != b.opts.Path {
			list = append(list, neighbour{n.path, aboutFile(n.path)}) // it may have changed since the folder was read
		}
	}
	return list
}

// aboutFile is what the head of a file says of its session.
func aboutFile(path string) agent.About {
	return heads.Of(path, func() (agent.About, int) { return about(headOf(path)), 1 })
}

// headOf is how a file begins, nil if it can't be read.
func headOf(path string) []byte { return disk.Head(path, headSize) }

// cwd is the working directory of another session of the folder, if all name the same.
func (b *beside) cwd() (cwd string) {
	for _, n := range b.neighbours() {
		if n.Info.CWD != "" && cwd != "" && n.Info.CWD != cwd {
			return ""
		}
		cwd = max(cwd, n.Info.CWD)
	}
	return cwd
}

// record is the line of the record with an id, in another session of the folder; nil if there is none.
func (b *beside) record(id string) remembered {
	if b.opts.Path == "" || !hexID.MatchString(id) {
		return remembered{}
	}
	if b.files == nil {
		b.files = b.index()
	}
	for _, f := range b.files {
		if at, known := f.at[number(id)]; known {
			if line := lineAt(f.path, at); gjson.GetBytes(line, "id").String() == id && jsonl.Valid(line) {
				return remembered{line, filepath.Base(f.path)}
			}
		}
	}
	return remembered{}
}

// index says where the records of other sessions of the folder stand: of the one that this was forked from, of its forks, and of those nearest by
// name, which is by time.
func (b *beside) index() []indexed {
	in, left := b.folder(), int64(maxFolder)
	own, _ := slices.BinarySearch(in.paths, b.opts.Path)
	first := max(0, min(own-maxFiles/2, len(in.paths)-maxFiles))
	near := in.paths[first:min(len(in.paths), first+maxFiles)]
	paths, seen := b.kin(in), map[string]bool{b.opts.Path: true}
	list := []indexed{}
	for _, p := range append(paths[:min(len(paths), maxFiles)], near...) {
		info, err := os.Stat(p)
		if seen[p] || err != nil || info.Size() > min(maxFile, left) || !info.Mode().IsRegular() {
			continue
		}
		seen[p] = true
		left -= info.Size()
		list = append(list, indexed{p, places.Of(p, func() (map[uint32]uint32, int) {
			text, _ := os.ReadFile(p) // what can't be read holds nothing
			at, offset := map[uint32]uint32{}, 0
			for line := range bytes.Lines(text) {
				if id := gjson.GetBytes(line, "id").Str; hexID.MatchString(id) {
					at[number(id)] = uint32(offset)
				}
				offset += len(line)
			}
			return at, len(at)
		})})
	}
	return list
}

// kin are the sessions of the folder that the one that asks was forked from, or that were forked from either.
func (b *beside) kin(in folder) []string {
	list := slices.Clone(in.forks[readName(filepath.Base(b.opts.Path)).ThreadID])
	parent := aboutFile(b.opts.Path).Info.ForkedFrom
	if parent == "" {
		return list
	}
	at := slices.IndexFunc(in.paths, func(p string) bool { return readName(filepath.Base(p)).ThreadID == parent })
	if at >= 0 {
		list = append(list, in.paths[at])
	}
	return append(list, in.forks[parent]...)
}

// number is the number that an id is in hexadecimal.
func number(id string) uint32 {
	n, _ := strconv.ParseUint(id, 16, 32) // hexID has matched
	return uint32(n)
}

// lineAt is the line of a file that begins at an offset; nil if it can't be read.
func lineAt(path string, offset uint32) []byte {
	file, err := disk.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	l, _ := jsonl.LineAt(file, int64(offset), maxFile)
	return bytes.TrimSpace(bytes.Clone(l.Raw))
}

// maxRecovered is how many lost records in a row are put back.
const maxRecovered = 4096

// recovered puts back what a record hangs on, if a fork or a copy in the same folder has it, up to a record that the file has.
func (c *checker) recovered(f *found, i int, ids map[string]int) bool {
	var list []*fact
	source := ""
	for up := c.facts[i].up; len(list) < maxRecovered; {
		r := c.beside.record(up)
		if up == "" || r.line == nil {
			return false
		}
		add := added(r.line, i-1)
		source = r.from
		list = append(list, add)
		if _, here := ids[add.up]; here || add.root {
			break
		}
		up = add.up
	}
	slices.Reverse(list)
	for _, add := range list {
		ids[add.id] = -1
		f.changes = append(f.changes, change{add: add})
	}
	f.Fix, f.Source = finding.Recovered, source
	return true
}

// neighbours reports what in the folder of a session is in the way of a resume.
func (c *checker) neighbours() {
	o := c.run.Options()
	about, at := c.run.Header()
	if o.Home == "" || o.Path == "" || at.Line == 0 {
		return
	}
	told := false
	for _, n := range c.beside.neighbours() {
		base := filepath.Base(n.path)
		switch {
		case n.Rule == ruleWrongHeader && told: // one is enough for the error
		case n.Rule == ruleWrongHeader:
			told = true
			c.run.Report(finding.Finding{Rule: ruleNeighbour, Pos: at, Message: "the header of " + base + " in the same folder has no id: looking up this session by the beginning of its id (before 0.80.3 by any id) ends with an error; repair that file"})
		case n.Info.CWD != "" && about.CWD != "" && filepath.Clean(n.Info.CWD) != filepath.Clean(about.CWD) && folderOf(n.Info.CWD) == folderOf(about.CWD):
			c.run.Report(finding.Finding{Rule: ruleSharedFolder, Pos: at, Message: "the sessions of " + n.Info.CWD + " lie in the same folder, and --continue takes the newest of both projects: resume by id (" + base + ")"})
			return
		}
	}
}

// folderOf is the name of the folder in which the client keeps the sessions of a directory.
func folderOf(cwd string) string {
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(cwd, "/")) + "--"
}
