package relay

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// MaxMessage is the longest message that is looked into, in bytes.
const MaxMessage = 1 << 20

// request is what matters of a message from a caller. ID is as it was written.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Thread    string          `json:"threadId"`
		Session   string          `json:"sessionId"` // the same in the Agent Client Protocol
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

// The methods that are heeded: those of an app-server, and, from session/ on, those of the Agent Client Protocol, by which
// editors speak to codex-acp. No name is in both.
const (
	initialize  = "initialize"
	threadStart = "thread/start"
	turnStart   = "turn/start"
	sessionNew  = "session/new"
	sessionLoad = "session/load"
)

// naming are the methods whose thread the client reads from its file.
var naming = map[string]bool{
	"thread/read": true, "thread/resume": true, "thread/fork": true, "thread/metadata/update": true, "thread/turns/list": true,
	sessionLoad: true, "session/resume": true, "session/fork": true,
}

// opening are the methods whose answer holds a thread that the server has open then.
var opening = map[string]bool{
	threadStart: true, "thread/resume": true, "thread/fork": true,
	sessionNew: true, sessionLoad: true, "session/resume": true, "session/fork": true,
}

// leaving are the methods by which a caller gives a thread up.
var leaving = map[string]bool{"thread/archive": true, "thread/unsubscribe": true, "thread/delete": true}

// readRequest reads a message that may matter; nil if it does not.
func readRequest(message []byte) *request {
	// A message is mostly none of these, and reading all of it costs more than finding its method.
	switch m := gjson.GetBytes(message, "method").String(); {
	case m == initialize, m == turnStart, naming[m], opening[m], leaving[m]:
	default:
		return nil
	}
	var r request
	if json.Unmarshal(message, &r) != nil {
		return nil // the client says what is wrong with it
	}
	if r.Params.Thread == "" {
		r.Params.Thread = r.Params.Session
	}
	return &r
}

// fromFile says whether the client will read the thread from its file.
func (r *request) fromFile() bool {
	given := len(r.Params.History) > 0 && string(r.Params.History) != "null"
	return naming[r.Method] && r.Params.Path == "" && !given
}

// maxCaller is how much of a caller's name is kept, in bytes.
const maxCaller = 80

// caller is how a caller names itself, in one short word or two.
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
