package pi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/walk"
)

// beside is what lies in the folder of a session: other sessions, among them forks, whose records have the same ids. It is looked at only
// where something is missing.
type beside struct {
	opts  *check.Options
	files func() []string // those that records are looked for in
	in    *agent.Siblings
}

func newBeside(opts *check.Options) *beside {
	b := &beside{opts: opts, in: records.Siblings()}
	b.files = sync.OnceValue(b.likely)
	return b
}

// neighbour is another session of the folder, by its header.
type neighbour struct {
	path string
	agent.About
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
	maxFolder = 256 << 20
	maxFiles  = 256
)

// What was read of folders and of files in them, for all sessions that lie there.
var (
	folders = disk.Recall[folder]{Limit: 1 << 16}
	heads   = disk.Recall[agent.About]{Limit: 1 << 16}
	records = agent.NewIndex(Decoder{}, "id")
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

// record is the line of the record with an id in another session of the folder, where the last one counts, and that one's file; nil if there is none.
func (b *beside) record(id string) (line []byte, from string) {
	if b.opts.Path == "" || !hexID.MatchString(id) {
		return nil, ""
	}
	for _, path := range b.files() {
		for l := range b.in.Naming(path, id) {
			if gjson.GetBytes(l, "id").String() == id {
				line = bytes.TrimSpace(l)
			}
		}
		if line != nil {
			return line, filepath.Base(path)
		}
	}
	return nil, ""
}

// likely are other sessions of the folder that may have records of this one: the one that it was forked from, its forks, and those nearest by
// name, which is by time.
func (b *beside) likely() (list []string) {
	in, left := b.folder(), int64(maxFolder)
	own, _ := slices.BinarySearch(in.paths, b.opts.Path)
	first := max(0, min(own-maxFiles/2, len(in.paths)-maxFiles))
	near := in.paths[first:min(len(in.paths), first+maxFiles)]
	kin := b.kin(in)
	for _, p := range append(kin[:min(len(kin), maxFiles)], near...) {
		info, err := os.Stat(p)
		if p == b.opts.Path || slices.Contains(list, p) || err != nil || info.Size() > min(agent.MaxSibling, left) || !info.Mode().IsRegular() {
			continue
		}
		left -= info.Size()
		list = append(list, p)
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

// maxRecovered is how many lost records in a row are put back.
const maxRecovered = 4096

// recovered puts back what a record hangs on, if a fork or a copy in the same folder has it, up to a record that the file has.
func (c *checker) recovered(f *found, i int, ids map[string]int) bool {
	var list []*fact
	source := ""
	for up := c.facts[i].up; len(list) < maxRecovered; {
		line, from := c.beside.record(up)
		if line == nil {
			return false
		}
		add := added(line, i-1)
		source = from
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
