package relay

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// MaxMessage is the longest message that is read, in bytes.
const MaxMessage = 1 << 20

// request holds the fields of a caller's message that the relay uses. ID is the JSON as it was written.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Thread    string          `json:"threadId"`
		Session   string          `json:"sessionId"` // the thread's id in the Agent Client Protocol
		Path      string          `json:"path"`
		History   json.RawMessage `json:"history"`
		CWD       string          `json:"cwd"`
		Ephemeral bool            `json:"ephemeral"`
		Source    string          `json:"sessionStartSource"`
		Client    struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"clientInfo"`
	} `json:"params"`
}

// The methods that the relay acts on: those of an app-server and, beginning with session/, those of the Agent Client
// Protocol, which editors speak with codex-acp. No method is in both protocols.
const (
	initialize  = "initialize"
	threadStart = "thread/start"
	turnStart   = "turn/start"
	sessionNew  = "session/new"
	sessionLoad = "session/load"
)

// readsFile are the methods for which the client reads the thread from its file.
var readsFile = map[string]bool{
	"thread/read": true, "thread/resume": true, "thread/fork": true, "thread/metadata/update": true, "thread/turns/list": true,
	sessionLoad: true, "session/resume": true, "session/fork": true,
}

// opensThread are the methods after whose answer the server has the thread open.
var opensThread = map[string]bool{
	threadStart: true, "thread/resume": true, "thread/fork": true,
	sessionNew: true, sessionLoad: true, "session/resume": true, "session/fork": true,
}

// leavesThread are the methods by which a caller gives up a thread.
var leavesThread = map[string]bool{"thread/archive": true, "thread/unsubscribe": true, "thread/delete": true}

// readRequest reads a message; nil if the relay has no use for it.
func readRequest(message []byte) *request {
	// Most messages are of other methods, and decoding the whole message costs more than finding its method.
	switch m := gjson.GetBytes(message, "method").String(); {
	case m == initialize, m == turnStart, readsFile[m], opensThread[m], leavesThread[m]:
	default:
		return nil
	}
	var r request
	if json.Unmarshal(message, &r) != nil {
		return nil // malformed: the client reports it
	}
	if r.Params.Thread == "" {
		r.Params.Thread = r.Params.Session
	}
	return &r
}

// fromFile says whether the client will read the thread from its file.
func (r *request) fromFile() bool {
	hasHistory := len(r.Params.History) > 0 && string(r.Params.History) != "null"
	return readsFile[r.Method] && r.Params.Path == "" && !hasHistory
}

// maxCaller is how much of a caller's name is kept, in bytes.
const maxCaller = 80

// caller returns the name and version that a caller gives itself, without control characters and shortened to maxCaller.
func (r *request) caller() string {
	name := strings.Trim(r.Params.Client.Name+"/"+r.Params.Client.Version, "/")
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, name)
	return strings.ToValidUTF8(name[:min(len(name), maxCaller)], "")
}
