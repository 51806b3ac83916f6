package pi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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
// where something is missing, and each file is read once.
type beside struct {
	opts  *check.Options
	files []neighbour
	lines map[string]remembered // by the id of a record
	read  bool
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

// limits of what is read of a folder, in bytes of a header, of a file and of all files.
const (
	headSize  = 64 << 10
	maxFile   = 64 << 20
	maxFolder = 256 << 20
)

// neighbours are the other sessions of the folder.
func (b *beside) neighbours() []neighbour {
	if b.files != nil || b.opts.Path == "" {
		return b.files
	}
	b.files = []neighbour{}
	if b.opts.Asked != nil {
		b.opts.Asked()
	}
	paths, _ := filepath.Glob(filepath.Join(walk.Literal(filepath.Dir(b.opts.Path)), "*"+extension)) // the pattern is sound
	for _, p := range paths {
		if p == b.opts.Path {
			continue
		}
		if head := headOf(p); len(head) > 0 {
			b.files = append(b.files, neighbour{p, about(head)})
		}
	}
	return b.files
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
	if !b.read {
		b.read, b.lines = true, map[string]remembered{}
		left := int64(maxFolder)
		for _, n := range b.neighbours() {
			info, err := os.Stat(n.path)
			if err != nil || info.Size() > maxFile || info.Size() > left || !info.Mode().IsRegular() {
				continue
			}
			left -= info.Size()
			text, err := os.ReadFile(n.path)
			if err != nil || !bytes.Contains(text, []byte(`"`+id+`"`)) {
				continue
			}
			for line := range bytes.Lines(text) {
				line = bytes.TrimSpace(line)
				if id := gjson.GetBytes(line, "id").String(); hexID.MatchString(id) && jsonl.Valid(line) {
					b.lines[id] = remembered{line, filepath.Base(n.path)}
				}
			}
		}
	}
	return b.lines[id]
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
	for _, n := range c.beside.neighbours() {
		base := filepath.Base(n.path)
		switch {
		case n.Rule == ruleWrongHeader:
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
