package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// ReadHeader reads a session_meta line. Members of the wrong type are left out.
func ReadHeader(line []byte) session.Info {
	p := gjson.GetBytes(line, "payload")
	text := func(key string) string {
		if v := p.Get(key); v.Type == gjson.String {
			return v.String()
		}
		return ""
	}
	h := session.Info{
		ID: text("id"), SessionID: text("session_id"), CWD: text("cwd"), Version: text("cli_version"),
		Provider: text("model_provider"), Commit: text("git.commit_hash"), Branch: text("git.branch"), Repository: text("git.repository_url"), Mode: text("history_mode"), ForkedFrom: text("forked_from_id"),
		BaseThread: text("history_base.thread_id"), BaseOrdinal: p.Get("history_base.end_ordinal_exclusive").Int(),
		BaseOffset: p.Get("history_base.end_byte_offset").Int(), SubagentStart: p.Get("subagent_history_start_ordinal").Int(),
	}
	if src := p.Get("source"); src.Type == gjson.String {
		h.Source = src.String()
	} else if src.IsObject() {
		h.Source = src.Raw
	}
	if h.Mode == "" {
		h.Mode = "legacy"
	}
	// A sub-agent of a multi-agent session is refused by its own id: "resume the parent first" (measured with 0.150.0 to 0.171.0).
	if spawned := p.Get("source.subagent.thread_spawn.parent_thread_id"); text("multi_agent_version") == "v2" && spawned.Type == gjson.String {
		h.ResumedBy = cmp.Or(h.SessionID, spawned.String())
		if h.ResumedBy == h.ID {
			h.ResumedBy = spawned.String()
		}
	}
	// Measured with 0.171.0: turn/start answers "thread not found".
	if by := p.Get("source.internal"); by.Exists() {
		name := by.Str
		for member := range by.Map() {
			name = member
		}
		h.NotResumed = "it is a thread of the client's own (" + name + "), which the client does not resume"
	}
	return h
}

// Known is what the rest of a session shows of its header's members, for filling in those that are missing.
type Known struct {
	ID        string
	Timestamp string // of the first record
	CWD       string
	Version   string
	Provider  string
	Paginated bool
	Client    string // the version that is to read the header; "" is the newest
	// Originator and Source are "" if nothing shows them. Source may be an object's JSON.
	Originator, Source string
	// Base is where a fork was taken from its parent; nil if it is not a fork, or that is not known.
	Base *Base
}

// FirstTurn is the highest ordinal with which the first turn of a thread may begin. A fork, which goes on with its parent's
// ordinals, begins at 3 or more, after its header and its settings.
const FirstTurn = 2

// FirstPrompt is the lowest ordinal that a thread's first prompt has (measured with 0.145.0 to 0.169.0).
const FirstPrompt = 6

// Base is a header's history_base.
type Base struct {
	Thread  string `json:"thread_id"`
	Ordinal int64  `json:"end_ordinal_exclusive"`
	Offset  int64  `json:"end_byte_offset"`
}

// Defaults for members that nothing else shows.
const (
	unknownVersion = "0.0.0"
	originator     = "codex_cli_rs"
)

// HeaderFault is one member of a header that keeps the client from reading it, and the cuts that mend it.
type HeaderFault struct {
	What  string
	Exact bool // false: a stand-in is written
	Cuts  []session.Cut
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// HeaderFaults lists what the client's typed reader refuses in a session_meta. (Members required since 0.32: id, timestamp,
// cwd, originator, cli_version; source: the client's SessionMeta up to 0.169.)
func HeaderFaults(line []byte, known Known) []HeaderFault {
	p := gjson.GetBytes(line, "payload")
	var faults []HeaderFault
	required := func(key, value string) {
		v := p.Get(key)
		switch {
		case v.Type == gjson.String:
			return
		case v.Exists() && v.Type == gjson.Number:
			value = fromNumber(key, v, value)
		}
		faults = append(faults, HeaderFault{
			What: lacks(key, v), Exact: value != "" && key != "originator" && value != unknownVersion,
			Cuts: []session.Cut{session.SetMember(line, "payload", key, quote(value))},
		})
	}
	if id := p.Get("id"); id.Type != gjson.String || !uuidForm.MatchString(id.String()) {
		if known.ID != "" {
			faults = append(faults, HeaderFault{What: lacks("id", id), Exact: true, Cuts: []session.Cut{session.SetMember(line, "payload", "id", quote(known.ID))}})
		} else {
			faults = append(faults, HeaderFault{What: lacks("id", id)})
		}
	}
	required("timestamp", known.Timestamp)
	required("cwd", known.CWD)
	required("originator", originator)
	required("cli_version", cmp.Or(known.Version, unknownVersion))
	return append(faults, optionalFaults(line, p, known)...)
}

// headerMembers are members of a header that need not be there, and of what types the client takes them (each measured with 0.171.0; of others
// nothing is known): text, null, bool, object, array, list of texts, integer from 0 on, depth (of 32 bits), path of an agent, uuid, or * for
// anything. A member of an object that does not take null must be there, unless it takes - for that. A number is made a text where that comes
// first. Of some, words are the only texts, or the members of which an object has just one. Up to the minor version ignoredBy, clients were
// measured not to look at the member. Members of a list's elements have a # in their path. Some belong to objects of some types only.
var headerMembers = []headerMember{
	{"account_scoped", "b", "", 145, ""},
	{"attached_thread", "b", "", 145, ""},
	{"creator_account_id", "tn", "", 145, ""},
	{"creator_user_id", "tn", "", 145, ""},
	{"session_id", "u", "", 114, ""},
	{"forked_from_id", "un", "", 79, ""},
	{"forked_from_ordinal_exclusive", "in", "", 145, ""},
	{"parent_thread_id", "un", "", 114, ""},
	{"thread_source", "tn", "", 114, ""},
	{"agent_nickname", "tn", "", 79, ""},
	{"agent_role", "tn", "", 79, ""},
	{"agent_type", "tn", "", 0, ""},
	{"agent_path", "tn", "", 114, ""},
	{"model_provider", "tn", "", 0, ""},
	{"memory_mode", "tn", "", 79, ""},
	{"multi_agent_version", "nt", "disabled v1 v2", 114, ""},
	{"runtime_workspace_roots", "ln", "", 145, ""},
	{"base_instructions", "on", "", 79, ""},
	{"base_instructions.text", "t", "", 79, ""},
	{"base_instructions.provenance", "on", "", 145, ""},
	{"base_instructions.provenance.type", "t", "custom model", 145, ""},
	{"base_instructions.provenance.model", "t", "", 145, "model"},
	{"dynamic_tools", "an", "", 79, ""},
	{"dynamic_tools.#.type", "t-", "function namespace", 114, ""},
	{"dynamic_tools.#.name", "t", "", 79, ""},
	{"dynamic_tools.#.description", "t", "", 79, ""},
	{"dynamic_tools.#.inputSchema", "*", "", 79, "none function"},
	{"dynamic_tools.#.deferLoading", "bn", "", 114, "none"},
	{"dynamic_tools.#.exposeToContext", "bn", "", 114, "none"},
	{"dynamic_tools.#.namespace", "tn", "", 114, "none"},
	{"dynamic_tools.#.deferLoading", "b-", "", 114, "function"},
	{"dynamic_tools.#.exposeToContext", "-", "", 114, "function namespace"},
	{"dynamic_tools.#.namespace", "-", "", 114, "function namespace"},
	{"dynamic_tools.#.tools", "a", "", 114, "namespace"},
	{"dynamic_tools.#.tools.#.type", "t", "function", 114, ""},
	{"dynamic_tools.#.tools.#.name", "t", "", 114, ""},
	{"dynamic_tools.#.tools.#.description", "t", "", 114, ""},
	{"dynamic_tools.#.tools.#.inputSchema", "*", "", 114, ""},
	{"dynamic_tools.#.tools.#.deferLoading", "b-", "", 114, ""},
	{"dynamic_tools.#.tools.#.namespace", "-", "", 114, ""},
	{"selected_capability_roots", "an", "", 114, ""},
	{"selected_capability_roots.#.id", "t", "", 114, ""},
	{"selected_capability_roots.#.location", "o", "", 114, ""},
	{"selected_capability_roots.#.location.type", "t", "environment", 114, ""},
	{"selected_capability_roots.#.location.environmentId", "t", "", 114, ""},
	{"selected_capability_roots.#.location.path", "t", "", 114, ""},
	{"context_window", "on", "", 114, ""},
	{"context_window.window_id", "t", "", 114, ""},
	{"git", "on", "", 0, ""},
	{"git.commit_hash", "tn", "", 0, ""},
	{"git.branch", "tn", "", 0, ""},
	{"git.repository_url", "tn", "", 0, ""},
	{"subagent_history_start_ordinal", "in", "", 114, ""},
	{"history_base", "on", "", 114, ""},
	{"history_base.thread_id", "u", "", 114, ""},
	{"history_base.end_ordinal_exclusive", "i", "", 114, ""},
	{"history_base.end_byte_offset", "i", "", 114, ""},
	{"source.custom", "t-", "", 0, ""},
	{"source.internal", "ot-", "guardian memory_consolidation", 0, ""},
	{"source.subagent", "ot-", "compact memory_consolidation other: review thread_spawn:", 0, ""},
	{"source.subagent.other", "t-", "", 0, ""},
	{"source.subagent.thread_spawn", "o-", "", 0, ""},
	{"source.subagent.thread_spawn.parent_thread_id", "u", "", 0, ""},
	{"source.subagent.thread_spawn.depth", "d", "", 0, ""},
	{"source.subagent.thread_spawn.agent_nickname", "tn", "", 0, ""},
	{"source.subagent.thread_spawn.agent_role", "tn", "", 0, ""},
	{"source.subagent.thread_spawn.agent_path", "pn", "", 114, ""},
	{"source.subagent.thread_spawn.agent_type", "tn", "", 0, ""},
}

type headerMember struct {
	path, takes, words string
	ignoredBy          int
	of                 string // the types of the objects that it belongs to: none is those without; "" is all
}

// wrong says what is wrong with the member's value, "" if the client takes it; parent is the object that it belongs to.
func (m *headerMember) wrong(v, parent gjson.Result, client string) string {
	switch {
	case Before(client, 0, m.ignoredBy+1), m.of != "" && !slices.Contains(strings.Fields(m.of), cmp.Or(parent.Get("type").Str, "none")):
	case !takesType(v, m.takes):
		return lacks(m.path, v)
	case m.words != "" && v.Type != gjson.Null && !isOneOf(v, m.words):
		return m.path + " is unknown"
	}
	return ""
}

var agentPath = regexp.MustCompile(`^/(?:root(?:/[a-z0-9_]+)*|morpheus)$`)

// takesType says whether a value is of one of some types, written as in headerMembers.
func takesType(v gjson.Result, types string) bool {
	var is string
	switch {
	case !v.Exists():
		is = "n-"
	case types == "*":
		is = types
	case v.Type == gjson.String && uuid.Validate(v.Str) == nil:
		is = "tu"
	case v.Type == gjson.String && agentPath.MatchString(v.Str) && !strings.Contains(v.Str[1:]+"/", "/root/"):
		is = "tp"
	case v.Type == gjson.String:
		is = "t"
	case v.Type == gjson.Null:
		is = "n"
	case v.Type == gjson.Number && strings.Trim(v.Raw, "0123456789") == "":
		is = "i"
		if v.Num <= math.MaxInt32 {
			is = "id"
		}
	case v.Type == gjson.Number && v.Num >= math.MinInt32 && strings.Trim(v.Raw[1:], "0123456789") == "":
		is = "d"
	case v.IsBool():
		is = "b"
	case v.IsObject():
		is = "o"
	case v.IsArray():
		is = "a"
		if _, texts := joined(v); texts {
			is = "al"
		}
	}
	return strings.ContainsAny(types, is)
}

// joined are the texts of a list, a line each; ok is false if it holds anything else.
func joined(list gjson.Result) (text string, ok bool) {
	var lines []string
	ok = list.IsArray()
	list.ForEach(func(_, v gjson.Result) bool {
		ok = ok && v.Type == gjson.String
		lines = append(lines, v.Str)
		return ok
	})
	return strings.Join(lines, "\n"), ok
}

// isOneOf says whether a value is one of some words, or an object with just one member, which has such a name. A colon behind a word says that it
// needs what is in the object.
func isOneOf(v gjson.Result, words string) bool {
	list := strings.Fields(words)
	if members := v.Map(); v.IsObject() && len(members) == 1 {
		for name := range members {
			return slices.Contains(list, name) || slices.Contains(list, name+":")
		}
	}
	return slices.Contains(list, v.Str)
}

func optionalFaults(line []byte, p gjson.Result, known Known) []HeaderFault {
	var faults []HeaderFault
	for _, m := range headerMembers {
		parent, key := "", m.path
		if i := strings.LastIndexByte(m.path, '.'); i >= 0 {
			parent, key = m.path[:i], m.path[i+1:]
		}
		v := p.Get(m.path)
		if strings.Contains(m.path, "#") || !v.Exists() && (parent == "" || !p.Get(parent).IsObject()) {
			continue
		}
		f := HeaderFault{What: m.wrong(v, p.Get(parent), known.Client)}
		if f.What == "" {
			continue
		}
		set := func(value []byte) {
			f.Exact, f.Cuts = true, []session.Cut{session.SetMember(line, strings.TrimSuffix("payload."+parent, "."), key, value)}
		}
		switch top, _, _ := strings.Cut(m.path, "."); {
		case m.path == "base_instructions" && v.Type == gjson.String:
			f.What = "base_instructions is a plain text"
			set([]byte(`{"text":` + v.Raw + `}`))
		case m.path == "session_id" && uuidForm.MatchString(p.Get("id").Str): // a sub-agent's is that of the thread it comes from
			set(quote(p.Get("id").Str))
			f.Exact = p.Get("parent_thread_id").Type != gjson.String
		case m.path == "model_provider" && known.Provider != "":
			set(quote(known.Provider))
		case v.Type == gjson.Number && m.takes[0] == 't':
			set(quote(v.Raw))
		case key == "depth":
			set([]byte("1"))
			f.Exact = false
		case m.path == "multi_agent_version" && v.Raw == "2":
			set([]byte(`"v2"`))
		case m.path == "source.subagent":
			set([]byte(`{"other":` + string(quote(v.String())) + `}`))
			f.Exact = v.Type == gjson.String
		case v.IsArray() && m.takes == "t":
			if text, texts := joined(v); texts {
				set(quote(text))
				f.Exact = v.Get("#").Int() == 1
			}
		case key == "parent_thread_id" && parent != "" && uuidForm.MatchString(p.Get(key).Str):
			set(quote(p.Get(key).Str))
		case top == "history_base" || top == "source" && m.takes == "u": // nothing else says which thread it goes on from
		case top == "source" && !strings.HasPrefix(key, "agent_"):
			parent, key = "", "source"
			set(quote("unknown"))
			f.Exact = false
		case parent != "" && !strings.ContainsAny(m.takes, "n-"):
			parent, key = "", parent
			fallthrough
		default:
			f.Cuts = []session.Cut{session.DropMember(line, strings.TrimSuffix("payload."+parent, "."), key)}
			f.Exact = v.Type == gjson.Null
		}
		faults = append(faults, f)
	}
	for _, list := range []string{"dynamic_tools", "selected_capability_roots"} {
		faults = append(faults, elementFaults(p.Get(list), list, list, known.Client)...)
	}
	if v := p.Get("history_mode"); v.Exists() && v.String() != "legacy" && v.String() != "paginated" {
		mode := "legacy"
		if known.Paginated {
			mode = "paginated"
		}
		faults = append(faults, HeaderFault{What: "history_mode is unknown", Exact: true, Cuts: []session.Cut{session.SetMember(line, "payload", "history_mode", quote(mode))}})
	}
	for _, at := range []string{"", ".source.subagent.thread_spawn"} {
		if in := gjson.GetBytes(line, "payload"+at); in.Get("agent_role").Exists() && in.Get("agent_type").Exists() {
			faults = append(faults, HeaderFault{What: "agent_role and its old name agent_type are both there", Exact: true, Cuts: []session.Cut{session.DropMember(line, "payload"+at, "agent_type")}})
		}
	}
	// Any other text is taken as one that no version knows.
	if v := p.Get("source"); v.Exists() && (v.Type != gjson.String || isOneOf(v, "custom internal subagent")) && !isOneOf(v, "cli vscode exec mcp unknown custom: internal: subagent:") {
		faults = append(faults, HeaderFault{What: "source is neither a text nor an object that says what", Cuts: []session.Cut{session.SetMember(line, "payload", "source", quote("unknown"))}})
	}
	return faults
}

// elementFaults lists what the client refuses in the elements of a list, which is at path; in headerMembers, it is called list. Only an element that
// can't be read without what is wrong is taken out.
func elementFaults(elements gjson.Result, list, path, client string) (faults []HeaderFault) {
	if !elements.IsArray() {
		return nil
	}
	hasType := func(element gjson.Result) bool { return element.Get("type").Exists() }
	typed := list == "dynamic_tools" && !Before(client, 0, 115) && slices.ContainsFunc(elements.Array(), hasType)
	for i, element := range elements.Array() {
		at := fmt.Sprintf("%s.%d", path, i)
		moved := func(cut session.Cut) []session.Cut {
			cut.Start, cut.End = cut.Start+element.Index, cut.End+element.Index
			return []session.Cut{cut}
		}
		whole := []session.Cut{{Start: element.Index, End: element.Index + len(element.Raw), Element: true}}
		if !element.IsObject() {
			faults = append(faults, HeaderFault{What: at + " is no object", Cuts: whole})
			continue
		}
		if typed && !hasType(element) {
			faults = append(faults, HeaderFault{What: at + " has no type, as others of the list have", Exact: true, Cuts: moved(session.SetMember([]byte(element.Raw), "", "type", quote("function")))})
			continue
		}
		for _, m := range headerMembers {
			name, its := strings.CutPrefix(m.path, list+".#.")
			if !its || strings.Contains(name, "#") {
				continue
			}
			v := element.Get(name)
			f := HeaderFault{What: m.wrong(v, element, client), Cuts: whole}
			if f.What == "" {
				continue
			}
			f.What = at + strings.TrimPrefix(f.What, list+".#")
			const other = `"input_schema"`
			switch k := strings.Index(element.Raw, other); {
			case name == "type": // without one, it would be of another kind than the others
			case strings.ContainsAny(m.takes, "n-"):
				f.Cuts = moved(session.DropMember([]byte(element.Raw), "", name))
			case name == "inputSchema" && element.Get("input_schema").Exists() && strings.Count(element.Raw, other) == 1:
				f.What, f.Exact = "the inputSchema of "+at+" is named input_schema", true
				f.Cuts = []session.Cut{{Start: element.Index + k, End: element.Index + k + len(other), New: []byte(`"inputSchema"`)}}
			}
			if faults = append(faults, f); f.Cuts[0].Element {
				break
			}
		}
		faults = append(faults, elementFaults(element.Get("tools"), list+".#.tools", at+".tools", client)...)
	}
	return faults
}

func lacks(key string, v gjson.Result) string {
	if !v.Exists() {
		return key + " is missing"
	}
	return key + " is of the wrong type"
}

// fromNumber reads a member that is a number where the client writes a text.
func fromNumber(key string, v gjson.Result, otherwise string) string {
	if key != "timestamp" {
		return v.Raw
	}
	return cmp.Or(stampOf(v), otherwise)
}

// stampOf writes a number of seconds, milli- or microseconds since 1970 as the client writes a time; "" if it is none of these.
func stampOf(v gjson.Result) string {
	const least, most = 1e8, 1e11 // seconds, of years from 1973 to 5138
	n, unit := v.Num, 1e6
	for n >= most && unit > 1 {
		n, unit = n/1e3, unit/1e3
	}
	if v.Type != gjson.Number || n < least || n >= most {
		return ""
	}
	at := time.UnixMicro(int64(math.Round(v.Num * unit))).UTC()
	if at.Nanosecond()%1e6 != 0 {
		return at.Format("2006-01-02T15:04:05.000000Z")
	}
	return at.Format(TimeForm)
}

// TimeForm is how the client writes the time of a line.
const TimeForm = "2006-01-02T15:04:05.000Z"

// NewHeader writes a session_meta from what is known of a session; ordinal is taken if the session is paginated.
func NewHeader(known Known) []byte {
	source := quote(cmp.Or(known.Source, "cli"))
	if v := gjson.Parse(known.Source); jsonl.Valid([]byte(known.Source)) && v.IsObject() {
		source = json.RawMessage(known.Source)
	}
	var ordinal *int64
	var base any
	mode, forkedFrom := "", ""
	if known.Paginated {
		mode, ordinal = "paginated", new(int64)
		if known.Base != nil {
			forkedFrom, base, *ordinal = known.Base.Thread, known.Base, known.Base.Ordinal
		}
	}
	return record(known.Timestamp, ordinal, "session_meta", jsonObject{
		"session_id", known.ID, "id", known.ID, "forked_from_id?", forkedFrom, "timestamp", known.Timestamp, "cwd", cmp.Or(known.CWD, "/"),
		"originator", cmp.Or(known.Originator, originator), "cli_version", cmp.Or(known.Version, unknownVersion), "source", source,
		"model_provider?", known.Provider, "history_mode?", mode, "history_base?", base,
	})
}

// jsonObject is a JSON object: the names and the values of its members in turn, in the client's order. A member whose name ends in "?" is
// left out if it is empty.
type jsonObject []any

// MarshalJSON writes the object.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := 0; i < len(o); i += 2 {
		name, optional := strings.CutSuffix(o[i].(string), "?")
		if optional && isEmpty(o[i+1]) {
			continue
		}
		b.WriteString(`,"` + name + `":`)
		if err := enc.Encode(o[i+1]); err != nil {
			return nil, err
		}
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(b.Bytes(), []byte{','})...), '}'), nil
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case json.RawMessage:
		return len(v) == 0
	case *int64:
		return v == nil
	}
	return value == nil
}

// record writes one line in the client's order of members.
func record(timestamp string, ordinal *int64, kind string, payload any) []byte {
	line, err := jsonObject{"timestamp", timestamp, "ordinal?", ordinal, "type", kind, "payload", payload}.MarshalJSON()
	var b bytes.Buffer
	if err == nil {
		err = json.Compact(&b, line)
	}
	if err != nil {
		panic("codex: " + err.Error()) // only strings and raw JSON that has been scanned come here
	}
	return plainSeparators(b.Bytes())
}

// plainSeparators writes Unicode's two line separators as the client does, without the escapes of Go's encoder: a text that is
// in the file twice is recognised by its bytes.
func plainSeparators(line []byte) []byte {
	out := line[:0]
	for {
		at := bytes.Index(line, []byte(`\u202`))
		if at < 0 || at+6 > len(line) {
			return append(out, line...)
		}
		last := line[at+5]
		if plain := last == '8' || last == '9'; plain && !jsonl.Escaped(line, at) {
			out = utf8.AppendRune(append(out, line[:at]...), 0x2028+rune(last-'8'))
		} else {
			out = append(out, line[:at+6]...)
		}
		line = line[at+6:]
	}
}

// Stamp returns a record's time stamp, "" if it has none.
func Stamp(rec *session.Record) string { return string(Text(rec, FieldTimestamp)) }

var cwdTag = regexp.MustCompile(`<cwd>([^<]+)</cwd>`)

// EnvironmentCWD returns the working directory that the client named to the model in an environment message, "" if the line is
// not one.
func EnvironmentCWD(line []byte) string {
	if m := cwdTag.FindSubmatch(line); m != nil {
		return gjson.Parse(`"` + string(m[1]) + `"`).String()
	}
	return ""
}

// Reidentify turns a header into that of a new thread, forked from the old one, so that the copy resumes beside the original. What says
// that the old one is a sub-agent which only its parent resumes does not go along (measured with 0.171.0: then it is resumed, with
// everything).
func Reidentify(line []byte, old session.Info, id string) []byte {
	set := func(member, value string) {
		line = session.Splice(line, session.SetMember(line, "payload", member, quote(value)))
	}
	set("id", id)
	if old.ID != "" {
		set("forked_from_id", old.ID)
	}
	if old.SessionID != "" && (old.SessionID == old.ID || old.ResumedBy != "") {
		set("session_id", id)
	}
	if old.ResumedBy != "" || old.NotResumed != "" {
		set("source", "cli")
		set("thread_source", "user")
		for _, member := range []string{"parent_thread_id", "agent_nickname", "agent_path", "agent_role"} {
			line = session.Splice(line, session.DropMember(line, "payload", member))
		}
	}
	return line
}

// OfSubagent says whether another session's agent began a session: then its task need not be in it as a prompt.
func OfSubagent(h session.Info) bool {
	return h.SubagentStart > 0 || strings.Contains(h.Source, "subagent")
}
