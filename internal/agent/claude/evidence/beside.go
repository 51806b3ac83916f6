package evidence

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/regular"
)

// The limits of the search beside a session: files looked into, and lost records looked for.
const (
	maxFiles   = 200
	maxLookups = 32
	MaxOutput  = 30_000 // bytes of an output that are put back
	strayTime  = time.Hour
)

// HistMark begins every text that hist itself wrote, which is never a source of lost content.
var HistMark = []byte("[hist: ")

// folder is what lies beside a session: forks and copies in the same folder, the outputs and sub-agents that the client keeps
// in files of their own, and the list of typed prompts.
type folder struct {
	path    string      // of the session
	text    io.ReaderAt // the session's text if it is not the file at path: a copy in the making
	session string      // its id
	lookups int
	near    neighbours
	typed   []Typed // read when first asked for
	read    bool
	calls   map[string]bool       // the session's calls without an output, by id; nil until the session was read for them
	named   map[string]bool       // the names of output files, and whether a record mentions each
	stories map[string]*fileStory // by the files' paths
}

// Open returns what lies beside the session in the file at a path. text is the session's text if it is not the file's.
func Open(path string, text io.ReaderAt) Beside {
	return &folder{path: path, text: text, near: newNeighbours(), session: strings.TrimSuffix(filepath.Base(path), format.Extension)}
}

// Noting is a Beside that tells its owner when anything is asked of it.
func Noting(of Beside, asked func()) Beside { return noted{of, asked} }

type noted struct {
	of    Beside
	asked func()
}

// Record is Beside's, and notes the question.
func (n noted) Record(uuid string, fits func(line []byte) bool) (line []byte, source string) {
	n.asked()
	return n.of.Record(uuid, fits)
}

// Answer is Beside's, and notes the question.
func (n noted) Answer(callID, call string) (line []byte, source string) {
	n.asked()
	return n.of.Answer(callID, call)
}

// Output is Beside's, and notes the question.
func (n noted) Output(callID string) (text, source string) {
	n.asked()
	return n.of.Output(callID)
}

// ReadOutput is Beside's, and notes the question.
func (n noted) ReadOutput(call content.FileRead, sent func(words string) bool) (words, source string) {
	n.asked()
	return n.of.ReadOutput(call, sent)
}

// Kin is Beside's, and notes the question if it finds any: of an answer that is whole here nothing can come to light there.
func (n noted) Kin(root string, lacks func(answer, call string) bool) (lines [][]byte, source string) {
	if lines, source = n.of.Kin(root, lacks); lines != nil {
		n.asked()
	}
	return lines, source
}

// Begun is Beside's, and notes the question.
func (n noted) Begun(holds func(answer string) bool) (words, source string) {
	n.asked()
	return n.of.Begun(holds)
}

// Typed is Beside's, and notes the question.
func (n noted) Typed() []Typed {
	n.asked()
	return n.of.Typed()
}

// OutputFault is Beside's. No repair depends on it, so there is nothing to note.
func (n noted) OutputFault(path string, size int64, starts string, written time.Time) string {
	return n.of.OutputFault(path, size, starts, written)
}

// AgentFault is Beside's. No repair depends on it, so there is nothing to note.
func (n noted) AgentFault(id, answer string, written time.Time) string {
	return n.of.AgentFault(id, answer, written)
}

// Line is Beside's. It reads only the session itself, so there is nothing to note.
func (n noted) Line(offset int64) []byte { return n.of.Line(offset) }

// Stray is Beside's, and notes the question.
func (n noted) Stray() bool {
	n.asked()
	return n.of.Stray()
}

// Remains is Beside's, and notes the question.
func (n noted) Remains() (dir string, parts, outputs int) {
	n.asked()
	return n.of.Remains()
}

// Part is Beside's, and notes the question.
func (n noted) Part(id string) bool {
	n.asked()
	return n.of.Part(id)
}

// others are the other sessions of the folder.
func (f *folder) others() []string {
	list := slices.DeleteFunc(home.SessionsIn(filepath.Dir(f.path)), func(path string) bool { return filepath.Base(path) == filepath.Base(f.path) })
	return list[:min(len(list), maxFiles)]
}

// Stray says whether another session of the folder was written after an empty file was left there.
func (f *folder) Stray() bool {
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

// Remains is Beside's.
func (f *folder) Remains() (dir string, parts, outputs int) {
	dir = strings.TrimSuffix(f.path, format.Extension)
	parts, outputs, _ = home.Remains(dir)
	return dir, parts, outputs
}

// Record finds a record by its uuid in another session of the folder.
func (f *folder) Record(uuid string, fits func(line []byte) bool) (line []byte, source string) {
	return f.elsewhere(uuid, func(l []byte) bool { return gjson.GetBytes(l, "uuid").String() == uuid && fits(l) })
}

// Answer finds a call's output in another session of the folder, by the ids of the call and of its record.
func (f *folder) Answer(callID, call string) (line []byte, source string) {
	return f.elsewhere(callID, func(l []byte) bool {
		if of := gjson.GetBytes(l, "sourceToolAssistantUUID").String(); of != call && (of != "" || gjson.GetBytes(l, "parentUuid").String() != call) {
			return false
		}
		blocks := gjson.GetBytes(l, "message.content").Array()
		return len(blocks) == 1 && blocks[0].Get("type").String() == "tool_result" && blocks[0].Get("tool_use_id").String() == callID
	})
}

// Part looks into the files of the same sub-agent in other sessions' folders. A sub-agent that is still at work when its
// session is cleared goes on in the folder of the session that begins then, and leaves what it has written so far where it is
// (2.1.260, measured).
func (f *folder) Part(id string) bool {
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
		if e.IsDir() && other != mine && f.near.find(filepath.Join(other, base), id, func(l []byte) bool { return home.Holds(l, id) }) != nil {
			return true
		}
	}
	return false
}

// elsewhere finds, in another session of the folder, a record that contains an id and that fits.
func (f *folder) elsewhere(id string, fits func(line []byte) bool) (line []byte, source string) {
	if f.lookups++; f.lookups > maxLookups || id == "" {
		return nil, ""
	}
	for _, path := range f.others() {
		if line := f.near.find(path, id, func(l []byte) bool { return fits(l) && !bytes.Contains(l, HistMark) }); line != nil {
			return line, "the same record in " + filepath.Base(path)
		}
	}
	return nil, ""
}

// own opens the session's text; nil if it can't be read. The caller must call done.
func (f *folder) own() (text io.ReaderAt, done func()) {
	if f.text != nil {
		return f.text, func() {}
	}
	file, err := regular.Open(f.path)
	if err != nil {
		return nil, func() {}
	}
	return file, func() { file.Close() }
}

// eachOwn calls EachLine for the session itself.
func (f *folder) eachOwn(see func(l jsonl.Line, record func() bool) bool) {
	if text, done := f.own(); text != nil {
		defer done()
		home.LinesOf(io.NewSectionReader(text, 0, home.MaxFile), see)
	}
}

// Line reads one line of the session.
func (f *folder) Line(offset int64) []byte {
	text, done := f.own()
	if text == nil {
		return nil
	}
	defer done()
	in := jsonl.NewReader(io.NewSectionReader(text, offset, home.MaxFile))
	l, err := in.Next()
	if err != nil {
		return nil
	}
	if v := format.Shape.ScanOne(l.Raw, make([]jsonl.Span, format.FieldCount)); v.Fault != jsonl.None || !v.Object {
		return nil
	}
	return bytes.Clone(l.Raw)
}

// Output finds what the client keeps of a call's output outside the session: a file of its own, or a sub-agent's last answer.
func (f *folder) Output(callID string) (text, source string) {
	if f.lookups++; f.lookups > maxLookups {
		return "", ""
	}
	if text, source := f.stored(callID); source != "" {
		return text, source
	}
	dir := filepath.Join(strings.TrimSuffix(f.path, format.Extension), "subagents")
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

// Typed reads the prompts that were typed in this session from the end of the client's list of prompts, where the newest are.
func (f *folder) Typed() []Typed {
	if f.read {
		return f.typed
	}
	f.read = true
	file, err := regular.Open(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(f.path))), home.PromptsFile))
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() > home.MaxFile {
		if _, err := file.Seek(-home.MaxFile, io.SeekEnd); err != nil {
			return nil
		}
	}
	home.LinesOf(file, func(l jsonl.Line, record func() bool) bool {
		if bytes.Contains(l.Raw, []byte(f.session)) && record() && gjson.GetBytes(l.Raw, "sessionId").String() == f.session {
			if words := gjson.GetBytes(l.Raw, "display").String(); words != "" {
				f.typed = append(f.typed, Typed{words, gjson.GetBytes(l.Raw, "timestamp").Int()})
			}
		}
		return true
	})
	slices.SortStableFunc(f.typed, func(a, b Typed) int { return cmp.Compare(a.When, b.When) })
	return f.typed
}

// Beside is where content that a session has lost may still be.
type Beside interface {
	// Record returns a record by its uuid from a fork or a copy of the session: the first one that fits. source describes, for
	// the report, where it was. line is nil if there is none.
	Record(uuid string, fits func(line []byte) bool) (line []byte, source string)
	// Answer returns the record with a call's output from a fork or a copy of the session, given the ids of the call and of the
	// call's record. source describes where it was; line is nil if there is none.
	Answer(callID, call string) (line []byte, source string)
	// Kin returns records with calls that the session lacks, each with one, from another file whose conversation begins with the same
	// record. lacks says whether the session lacks a call of an answer. source describes where they were.
	Kin(root string, lacks func(answer, call string) bool) (lines [][]byte, source string)
	// Output returns a tool's output as it is kept outside the session, and words that say where.
	Output(callID string) (text, source string)
	// ReadOutput returns what a call has read from a file, according to the session or the client's file history, and words
	// that say where it was found. sent says whether the client has sent given words as the output; nil if the session can't
	// show that.
	ReadOutput(call content.FileRead, sent func(words string) bool) (words, source string)
	// Begun returns the first prompt of a sub-agent that has inherited the beginning of the conversation, and words that say where it
	// was. holds says whether the session holds an answer near its beginning, by the message's id.
	Begun(holds func(answer string) bool) (words, source string)
	// Typed are the prompts that the user typed in this session, oldest first, as the client lists them.
	Typed() []Typed
	// Line returns the line of the session's own file that begins at an offset in bytes; nil if there is none.
	Line(offset int64) []byte
	// Part says whether the session is a sub-agent's, and the file of the same sub-agent in another session's folder holds a
	// record with this uuid or the output of a call with this id.
	Part(id string) bool
	// OutputFault says what is wrong with the file of an output, given its path as the session names it, its length if that is known,
	// how it begins, and when it was written; "" if nothing is, or if that can't be told.
	OutputFault(path string, size int64, starts string, written time.Time) string
	// AgentFault says what is wrong with the file of a sub-agent, given what it answered and when; "" if nothing is, or if that can't be
	// told.
	AgentFault(id, answer string, written time.Time) string
	// Stray says whether the session, if it is empty, is only what a resume of another session left behind.
	Stray() bool
	// Remains counts what the turns of the session have left in the folder that the client keeps for it: conversations of
	// sub-agents, and outputs. dir is that folder.
	Remains() (dir string, parts, outputs int)
}

// Typed is a prompt as the user typed it.
type Typed struct {
	Words string
	When  int64 // milliseconds since 1970
}
