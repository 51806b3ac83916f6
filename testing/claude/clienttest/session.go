package clienttest

import (
	"bytes"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Session is the lines of a session file, to be damaged.
type Session [][]byte

// Lines cuts a file into its lines.
func Lines(data []byte) Session {
	var s Session
	for _, l := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		s = append(s, bytes.Clone(l))
	}
	return s
}

// Bytes is the file.
func (s Session) Bytes() []byte {
	if len(s) == 0 {
		return nil
	}
	return append(bytes.Join(s, []byte("\n")), '\n')
}

func get(line []byte, path string) string { return gjson.GetBytes(line, path).String() }

// Set gives a member of a line a JSON value.
func Set(line []byte, parent, key, value string) []byte {
	return session.Splice(line, session.SetMember(line, parent, key, []byte(value)))
}

func drop(line []byte, parent, key string) []byte {
	return session.Splice(line, session.DropMember(line, parent, key))
}

func inTree(line []byte) bool {
	switch get(line, "type") {
	case "user", "assistant", "system", "attachment":
		return get(line, "uuid") != ""
	}
	return false
}

// Retime lays the times of a session anew, as in life: a prompt comes a minute after what stands before it, an answer
// eight seconds, an output a fifth of a second, and what belongs to one answer milliseconds.
func Retime(s Session) Session {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	last := ""
	out := make(Session, len(s))
	for i, l := range s {
		out[i] = l
		switch {
		case !inTree(l):
		case get(l, "type") == "assistant" && get(l, "message.id") == last && last != "":
			at = at.Add(4 * time.Millisecond)
		case get(l, "type") == "assistant":
			at = at.Add(8 * time.Second)
		case get(l, "message.content.0.type") == "tool_result":
			at = at.Add(200 * time.Millisecond)
		case get(l, "type") == "user":
			at = at.Add(time.Minute)
		default:
			at = at.Add(time.Millisecond)
		}
		if inTree(l) {
			last = get(l, "message.id")
		}
		if gjson.GetBytes(l, "timestamp").Exists() {
			out[i] = Set(l, "", "timestamp", `"`+at.Format("2006-01-02T15:04:05.000Z")+`"`)
		}
	}
	return out
}

// find is the n-th line (from 0, from the end if negative) that a test accepts, -1 if there is none.
func (s Session) find(n int, ok func(l []byte) bool) int {
	var hits []int
	for i, l := range s {
		if !gjson.GetBytes(l, "isSidechain").Bool() && ok(l) {
			hits = append(hits, i)
		}
	}
	if n < 0 {
		n += len(hits)
	}
	if n < 0 || n >= len(hits) {
		return -1
	}
	return hits[n]
}

func isPrompt(l []byte) bool {
	return get(l, "type") == "user" && !isResult(l) && !gjson.GetBytes(l, "isMeta").Bool() && !gjson.GetBytes(l, "isCompactSummary").Bool()
}
func isCall(l []byte) bool { return get(l, "message.content.0.type") == "tool_use" }
func isResult(l []byte) bool {
	return get(l, "message.content.0.type") == "tool_result"
}

func isText(l []byte) bool {
	return get(l, "type") == "assistant" && get(l, "message.content.0.type") == "text"
}

func isTool(name string) func([]byte) bool {
	return func(l []byte) bool { return isCall(l) && get(l, "message.content.0.name") == name }
}

// resultOf is the line with the output of the call at i.
func (s Session) resultOf(i int) int {
	if i < 0 {
		return -1
	}
	id := get(s[i], "message.content.0.id")
	return s.find(0, func(l []byte) bool { return get(l, "message.content.0.tool_use_id") == id })
}

func (s Session) without(at ...int) Session {
	var out Session
	for i, l := range s {
		if !slices.Contains(at, i) {
			out = append(out, l)
		}
	}
	return out
}

func (s Session) with(i int, l []byte) Session {
	out := slices.Clone(s)
	out[i] = l
	return out
}

// The places that damages are done to: the read in the first turn, its output, the second prompt and so on.
func (s Session) readCall() int  { return s.find(0, isTool("Read")) }
func (s Session) readOut() int   { return s.resultOf(s.readCall()) }
func (s Session) second() int    { return s.find(1, isPrompt) }
func (s Session) midText() int   { return s.find(1, isText) }
func (s Session) lastText() int  { return s.find(-1, isText) }
func (s Session) first() int     { return s.find(0, isPrompt) }
func (s Session) firstCall() int { return s.find(0, isCall) }
func (s Session) firstOut() int  { return s.resultOf(s.firstCall()) }
func (s Session) nextCall() int  { return s.find(1, isCall) }
func (s Session) lastCall() int  { return s.find(-1, isCall) }
func (s Session) editCall() int  { return s.find(0, isTool("Edit")) }
func (s Session) editOut() int   { return s.resultOf(s.editCall()) }
func (s Session) endOfTurn() int {
	at := s.second()
	last := -1
	for i := 0; i < at; i++ {
		if isText(s[i]) {
			last = i
		}
	}
	return last
}

func (s Session) attachment() int {
	return s.find(2, func(l []byte) bool { return get(l, "type") == "attachment" })
}

func (s Session) lastPrompt() int {
	return s.find(-1, func(l []byte) bool { return get(l, "type") == "last-prompt" })
}
