package evidence

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/walk"
)

// The limits of the search beside a session: files looked into, and lost records looked for.
const (
	maxFiles   = 200
	maxLookups = 32      // in a folder that is read each time
	maxFound   = 1 << 15 // in files whose records are indexed
	MaxOutput  = 30_000  // bytes of an output that are put back
	strayTime  = time.Hour
)

// HistMark begins every text that hist itself wrote, which is never a source of lost content.
var HistMark = []byte("[hist: ")

// records are the records of other sessions, and the outputs of calls in them.
var records = agent.NewIndex(format.Decoder{}, "uuid", "tool_use_id")

// Folder is what lies beside a session, where content that it has lost may still be: forks and copies in the same folder, the outputs and
// sub-agents that the client keeps in files of their own, and the list of typed prompts.
type Folder struct {
	path    string      // of the session
	text    io.ReaderAt // the session's text if it is not the file at path: a copy in the making
	session string      // its id
	asked   func()
	lookups int
	finds   int
	folders func() []string // of the directories in which the session began, if it does not lie there
	near    *agent.Siblings
	files   func() []string // that may hold the same records, the nearest first
	parts   func() []string // of the session's sub-agents
	typed   []Typed         // read when first asked for
	read    bool
	calls   map[string]bool       // the session's calls without an output, by id; nil until the session was read for them
	named   map[string]bool       // the names of output files, and whether a record mentions each
	stories map[string]*fileStory // by the files' paths
}

// Open returns what lies beside the session in the file at a path. text, if not nil, is the session's text, which may not be the file's. asked, if not nil,
// is told of each question but those on which no repair depends, and that about the session itself.
func Open(path string, text io.ReaderAt, asked func()) *Folder {
	if asked == nil {
		asked = func() {}
	}
	f := &Folder{path: path, text: text, asked: asked, near: records.Siblings(), session: strings.TrimSuffix(filepath.Base(path), format.Extension)}
	f.files = sync.OnceValue(func() []string {
		return slices.Concat(home.Doubles(path, f.home()), disk.Backups(path), f.others(), f.abroad())
	})
	f.folders = sync.OnceValue(f.startedIn)
	f.parts = sync.OnceValue(f.subAgents)
	return f
}

// home is the home that the session lies in, if it lies where the client looks.
func (f *Folder) home() string { return filepath.Dir(filepath.Dir(filepath.Dir(f.path))) }

// kept is the folder that the client keeps for the session, or one in it.
func (f *Folder) kept(in ...string) string {
	return filepath.Join(append([]string{strings.TrimSuffix(f.path, format.Extension)}, in...)...)
}

// others are the other sessions of the folder.
func (f *Folder) others() []string { return f.sessionsIn(filepath.Dir(f.path)) }

// abroad are sessions of the folders of other directories, in which this one began: a fork into another work tree, say.
func (f *Folder) abroad() []string { return f.sessionsIn(f.folders()...) }

// sessionsIn are sessions of folders, but for those with the name of this one.
func (f *Folder) sessionsIn(dirs ...string) (list []string) {
	for _, dir := range dirs {
		all := home.SessionsIn(dir)
		list = append(list, all[:min(len(all), maxFiles+1)]...) // it may be one of them
	}
	list = slices.DeleteFunc(list, func(path string) bool { return filepath.Base(path) == filepath.Base(f.path) })
	return list[:min(len(list), maxFiles)]
}

// startedIn reads the session's head for folders.
func (f *Folder) startedIn() (dirs []string) {
	own := filepath.Dir(f.path)
	if filepath.Base(filepath.Dir(own)) != "projects" {
		return nil
	}
	left, seen, newest := maxLookups, map[string]bool{}, []byte(nil)
	f.eachOwn(func(l jsonl.Line, record func() bool) bool {
		if left--; newest != nil && bytes.Contains(l.Raw, newest) { // as nearly every line
			return left > 0
		}
		if cwd := gjson.GetBytes(l.Raw, "cwd"); cwd.String() != "" && record() && !seen[cwd.String()] {
			seen[cwd.String()], newest = true, []byte(`"cwd":`+cwd.Raw)
			if dir, err := home.FolderFor(f.home(), cwd.String()); err == nil && dir != own && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return left > 0
	})
	return dirs
}

// Stray says whether the session, if it is empty, is only what a resume of another session left behind.
func (f *Folder) Stray() bool {
	f.asked()
	mine, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	for _, path := range f.others() {
		if info, err := os.Stat(path); err == nil && info.Size() > mine.Size() && !info.ModTime().Before(mine.ModTime().Add(-strayTime)) {
			return true
		}
	}
	return false
}

// OutgrownBy says whether the folder holds the file of a session with an id, and that is larger than this one's.
func (f *Folder) OutgrownBy(id string) bool {
	f.asked()
	mine, err := os.Stat(f.path)
	if err != nil || id == "" || filepath.Base(id) != id {
		return false
	}
	other, err := os.Stat(filepath.Join(filepath.Dir(f.path), id+format.Extension))
	return err == nil && other.Size() > mine.Size()
}

// Remains counts what the turns of the session have left in the folder that the client keeps for it: conversations of
// sub-agents, and outputs. dir is that folder.
func (f *Folder) Remains() (dir string, parts, outputs int) {
	f.asked()
	dir = f.kept()
	parts, outputs, _ = home.Remains(dir)
	return dir, parts, outputs
}

// Record returns a record by its uuid from a fork or a copy of the session: the first one that fits. source describes, for
// the report, where it was. line is nil if there is none.
func (f *Folder) Record(uuid string, fits func(line []byte) bool) (line []byte, source string) {
	f.asked()
	return f.elsewhere(uuid, func(l []byte) bool { return gjson.GetBytes(l, "uuid").String() == uuid && fits(l) })
}

// End is the last message of a file that has the session's name: in another project's folder, or a backup.
func (f *Folder) End() (uuid string) {
	f.asked()
	for _, path := range slices.Concat(home.Doubles(f.path, f.home()), disk.Backups(f.path)) {
		home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
			if v := gjson.ParseBytes(l.Raw); v.Get("message").Exists() && !v.Get("isSidechain").Bool() && record() {
				uuid = v.Get("uuid").String()
			}
			return true
		})
		if uuid != "" {
			return uuid
		}
	}
	return ""
}

// Lacks says whether no fork or copy of the session has a record.
func (f *Folder) Lacks(uuid string) bool {
	line, _ := f.Record(uuid, func([]byte) bool { return true })
	return line == nil
}

// Answer returns the record with a call's output from a fork or a copy of the session, given the ids of the call and of the
// call's record. source describes where it was; line is nil if there is none.
func (f *Folder) Answer(callID, call string) (line []byte, source string) {
	f.asked()
	return f.elsewhere(callID, func(l []byte) bool {
		if of := gjson.GetBytes(l, "sourceToolAssistantUUID").String(); of != call && (of != "" || gjson.GetBytes(l, "parentUuid").String() != call) {
			return false
		}
		blocks := gjson.GetBytes(l, "message.content").Array()
		return len(blocks) == 1 && blocks[0].Get("type").String() == "tool_result" && blocks[0].Get("tool_use_id").String() == callID
	})
}

// InHelper returns a record of the session by its uuid from the file of a helper who suggests prompts, as it would be in the session, and words that
// say where it was. 2.1.23 to 2.1.29 wrote the last text of a turn only into the file of the helper who suggested the next prompt, in front of what
// that one was asked.
func (f *Folder) InHelper(uuid string, fits func(line []byte) bool) (line []byte, source string) {
	f.asked()
	if f.finds > maxFound || uuid == "" {
		return nil, ""
	}
	for _, path := range f.parts() {
		if !strings.HasPrefix(filepath.Base(path), "agent-aprompt_suggestion-") {
			continue
		}
		line := f.near.Find(path, uuid, func(l []byte) bool { return gjson.GetBytes(l, "uuid").String() == uuid && !bytes.Contains(l, HistMark) })
		if line == nil {
			continue
		}
		line = session.Splice(line, session.DropMember(line, "", "agentId"))
		if line = session.Splice(line, session.SetMember(line, "", "isSidechain", []byte("false"))); fits(line) {
			return line, "the same record in " + filepath.Base(path)
		}
	}
	return nil, ""
}

// subAgents are the files of the session's sub-agents.
func (f *Folder) subAgents() []string {
	paths, _ := filepath.Glob(filepath.Join(walk.Literal(f.kept("subagents")), "agent-*"+format.Extension)) // the pattern is sound
	return paths[:min(len(paths), maxFiles)]
}

// Part says whether the session is a sub-agent's, and the file of the same sub-agent in another session's folder holds a
// record with this uuid or the output of a call with this id. A sub-agent that is still at work when its session is cleared goes on in
// the folder of the session that begins then, and leaves what it has written so far where it is (2.1.260, measured).
func (f *Folder) Part(id string) bool {
	f.asked()
	if f.lookups++; f.lookups > maxLookups || id == "" {
		return false
	}
	path, err := filepath.Abs(f.path)
	if err != nil {
		return false
	}
	mine, base := filepath.Dir(path), filepath.Base(path)
	project := filepath.Dir(filepath.Dir(mine))
	entries, err := os.ReadDir(project)
	if err != nil {
		return false
	}
	for _, e := range entries {
		other := filepath.Join(project, e.Name(), filepath.Base(mine))
		if e.IsDir() && other != mine && f.near.Find(filepath.Join(other, base), id, func(l []byte) bool { return home.Holds(l, id) }) != nil {
			return true
		}
	}
	return false
}

// elsewhere finds a record that contains an id and that fits: in a file of the same session in another project's folder, in a backup of this
// one, or in another session of this folder.
func (f *Folder) elsewhere(id string, fits func(line []byte) bool) (line []byte, source string) {
	if f.finds++; f.finds > maxFound || id == "" {
		return nil, ""
	}
	for _, path := range f.files() {
		if line := f.near.Find(path, id, func(l []byte) bool { return fits(l) && !bytes.Contains(l, HistMark) }); line != nil {
			name := filepath.Base(path)
			if name == filepath.Base(f.path) {
				name = filepath.Join(filepath.Base(filepath.Dir(path)), name)
			}
			return line, "the same record in " + name
		}
	}
	return nil, ""
}

// own opens the session's text; nil if it can't be read. The caller must call done.
func (f *Folder) own() (text io.ReaderAt, done func()) {
	if f.text != nil {
		return f.text, func() {}
	}
	file, err := disk.Open(f.path)
	if err != nil {
		return nil, func() {}
	}
	return file, func() { file.Close() }
}

// eachOwn calls EachLine for the session itself.
func (f *Folder) eachOwn(see func(l jsonl.Line, record func() bool) bool) {
	if text, done := f.own(); text != nil {
		defer done()
		home.LinesOf(io.NewSectionReader(text, 0, agent.MaxSibling), see)
	}
}

// Line returns the line of the session's own file that begins at an offset in bytes; nil if there is none.
func (f *Folder) Line(offset int64) []byte {
	text, done := f.own()
	if text == nil {
		return nil
	}
	defer done()
	l, err := jsonl.LineAt(text, offset, agent.MaxSibling)
	if err != nil {
		return nil
	}
	if v := format.Shape.ScanOne(l.Raw, make([]jsonl.Span, format.FieldCount)); v.Fault != jsonl.None || !v.Object {
		return nil
	}
	return bytes.Clone(l.Raw)
}

// Output returns a tool's output as it is kept outside the session, and words that say where.
func (f *Folder) Output(callID string) (text, source string) {
	f.asked()
	if f.lookups++; f.lookups > maxLookups {
		return "", ""
	}
	if text, source := f.stored(callID); source != "" {
		return text, source
	}
	dir := f.kept("subagents")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", ""
	}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".meta.json")
		if !ok {
			continue
		}
		meta, err := home.ReadSmall(filepath.Join(dir, e.Name()))
		if err != nil || gjson.GetBytes(meta, "toolUseId").String() != callID {
			continue
		}
		if text := lastAnswer(filepath.Join(dir, base+format.Extension)); text != "" {
			return text, "the sub-agent's own file, " + base + format.Extension
		}
	}
	return "", ""
}

// lastAnswer is the last text that the model said in a sub-agent's file; "" if the file does not end with that, or has lines that are no
// records: a file that was cut off ends with something that the sub-agent said on its way.
func lastAnswer(path string) string {
	last, whole := "", true
	home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
		if whole = record(); !whole {
			return false
		}
		switch gjson.GetBytes(l.Raw, "type").String() {
		case "user":
			last = ""
		case "assistant":
			last = ""
			if stop := gjson.GetBytes(l.Raw, "message.stop_reason").String(); stop == "end_turn" || stop == "" || stop == "stop_sequence" {
				gjson.GetBytes(l.Raw, "message.content").ForEach(func(_, b gjson.Result) bool {
					if b.Get("type").String() == "text" {
						last = b.Get("text").String()
					}
					return true
				})
			}
		}
		return true
	})
	if !whole {
		return ""
	}
	if len(last) > MaxOutput {
		last = strings.ToValidUTF8(last[:MaxOutput], "") + "\n[hist: cut here]"
	}
	return last
}

// Typed are the prompts that the user typed in this session, oldest first, as the client lists them.
func (f *Folder) Typed() []Typed {
	f.asked()
	if !f.read {
		f.read = true
		for _, t := range home.Typed(f.home())[f.session] {
			f.typed = append(f.typed, Typed{home.Sent(f.home(), t), t.When.UnixMilli()})
		}
	}
	return f.typed
}

// Typed is a prompt as the user typed it.
type Typed struct {
	Words string
	When  int64 // milliseconds since 1970
}
