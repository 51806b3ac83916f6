package relay

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// rejoinWindow is how long after a failed turn a request for a new thread may be taken for one to resume the failed thread.
const rejoinWindow = 30 * time.Minute

// lost returns the thread that a caller loses by beginning a new one without meaning to. If there is none, or it is not to
// be resumed, why says so; otherwise why is empty.
//
// HAPI 0.16.8 to 0.17.3 considers a thread invalid when a turn ends in systemError, and begins a new one on the same
// connection; a user who wants a new thread sends the same message. The difference is that those versions never go back to
// a thread that failed. So every condition that can be known is checked: with one less, somebody's "/clear" would be undone
// (measured with 0.17.4).
func (c *conn) lost(start *request) (id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.threads[c.failed]
	switch {
	case t == nil || t.failed.IsZero():
		return "", "no turn failed on this connection just before"
	case t.abandoned:
		return "", "the thread that failed was given up"
	case start.Params.CWD != t.cwd:
		return "", "another directory than that of the thread that failed"
	case start.Params.Ephemeral:
		return c.failed, "the new thread is not to be kept"
	case start.Params.Source == "clear":
		return c.failed, "the caller wants a clear start"
	case c.server.now().Sub(t.failed) > rejoinWindow:
		return c.failed, "the turn failed too long ago"
	case c.goesBack:
		return c.failed, "the caller goes back to failed threads by itself"
	case !c.rejoin:
		return c.failed, "resuming lost threads is not switched on"
	}
	return c.failed, ""
}

// joining is an attempt to resume a lost thread, until the client has answered.
type joining struct {
	id     string    // the request's id, as it was written
	answer chan bool // whether the client resumes the thread
	resend func()    // set once nobody waits for the answer any longer: sends the caller's own request if the client refuses
}

// join returns the request to send instead of one for a new thread: it resumes the lost thread with the given id. Both
// results are nil if the message cannot be rewritten.
func (c *conn) join(start *request, message []byte, id string) ([]byte, *joining) {
	rewritten := resumed(message, id)
	if rewritten == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// This is tried only once, whatever comes of it: the caller is given the thread as a new one.
	c.threads[id].failed, c.failed = time.Time{}, ""
	start.Params.CWD = c.threads[id].cwd
	c.joining = &joining{id: string(start.ID), answer: make(chan bool, 1)}
	return rewritten, c.joining
}

// joinPending says whether an answer to join is awaited, so that the client's messages must be read before they are handed
// on.
func (c *conn) joinPending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.joining != nil
}

// refused reads a message from the client before it is handed on, while an answer to join is awaited. It says whether the
// message is the client's refusal, which the caller must not see: the request was not its own.
func (c *conn) refused(message []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	j := c.joining
	if j == nil || gjson.GetBytes(message, "method").Exists() || gjson.GetBytes(message, "id").Raw != j.id {
		return false
	}
	c.joining = nil
	refused := gjson.GetBytes(message, "error").Exists()
	switch {
	case j.resend == nil:
		j.answer <- !refused
	case refused:
		go j.resend() // in the background: the client may not be reading now, and what it says must not wait for that
	}
	return refused
}

// late records that nobody waits for the client's answer any longer. It returns false if the answer has come meanwhile.
func (c *conn) late(j *joining, resend func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.joining != j {
		return false
	}
	j.resend = resend
	return true
}

// giveUp ends an attempt that will get no answer, because the client has ended.
func (c *conn) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.joining; j != nil && j.resend == nil {
		j.answer <- true
	}
	c.joining = nil
}

// startOnly are the parameters that thread/start has and thread/resume does not (schemas of 0.114 to 0.169).
var startOnly = map[string]bool{"ephemeral": true, "serviceName": true, "sessionStartSource": true, "threadSource": true, "threadId": true}

// resumed rewrites a request for a new thread into one that resumes the thread with the given id, and leaves the rest of the
// message as it was written. It returns nil if the message does not have the expected form.
func resumed(message []byte, id string) []byte {
	body := bytes.TrimRight(message, "\r\n")
	end := message[len(body):]
	params := gjson.GetBytes(body, "params")
	if !params.IsObject() || params.Index == 0 || gjson.GetBytes(body, "method").Index == 0 {
		return nil
	}
	thread, err := json.Marshal(id)
	if err != nil {
		return nil
	}
	out := []byte(`{"threadId":` + string(thread))
	params.ForEach(func(key, value gjson.Result) bool {
		if !startOnly[key.String()] {
			out = append(append(append(append(out, ','), key.Raw...), ':'), value.Raw...)
		}
		return true
	})
	out = append(out, '}')
	type part struct {
		at, length int
		text       []byte
	}
	method := gjson.GetBytes(body, "method")
	parts := []part{{method.Index, len(method.Raw), []byte(`"thread/resume"`)}, {params.Index, len(params.Raw), out}}
	if parts[0].at > parts[1].at {
		parts[0], parts[1] = parts[1], parts[0]
	}
	var text []byte
	from := 0
	for _, p := range parts {
		text = append(append(text, body[from:p.at]...), p.text...)
		from = p.at + p.length
	}
	return append(append(text, body[from:]...), end...)
}
