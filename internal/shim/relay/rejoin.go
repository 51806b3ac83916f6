package relay

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// fresh is how long after a turn failed a new thread may stand for the one that failed.
const fresh = 30 * time.Minute

// lost returns the thread in whose place a caller begins a new one without meaning to, and why none is.
//
// HAPI 0.16.8 to 0.17.3 takes a thread for invalid when a turn ends in systemError, and begins a new one on the same
// connection; a user who wants a new thread sends the same message. What tells them apart is that callers of the first
// kind never go back to a thread that failed, and so everything is asked that can be known: one condition less, and
// somebody's "/clear" is undone (measured with 0.17.4).
func (c *conn) lost(start *request) (id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.threads[c.failed]
	switch {
	case t == nil || t.failed.IsZero():
		return "", "no turn failed on this connection just before"
	case t.gone:
		return "", "the thread that failed was given up"
	case start.Params.CWD != t.cwd:
		return "", "another directory than that of the thread that failed"
	case start.Params.Ephemeral:
		return c.failed, "the new thread is not to be kept"
	case start.Params.Source == "clear":
		return c.failed, "the caller wants a clear start"
	case c.server.now().Sub(t.failed) > fresh:
		return c.failed, "the turn failed too long ago"
	case c.own:
		return c.failed, "the caller goes back to failed threads by itself"
	case !c.rejoin:
		return c.failed, "taking up lost threads is not switched on"
	}
	return c.failed, ""
}

// joining is an attempt to go on with a lost thread, until the client has answered.
type joining struct {
	id     string    // of the request, as it was written
	answer chan bool // whether the client resumes it
	resend func()    // set when nobody waits for the answer any longer: begins the new thread after all
}

// join takes the place of a request for a new thread: it returns a request for the lost one.
func (c *conn) join(start *request, message []byte, id string) ([]byte, *joining) {
	rewritten := resumed(message, id)
	if rewritten == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Whatever comes of it: the caller is given the thread as a new one, and this is tried once.
	c.threads[id].failed, c.failed = time.Time{}, ""
	start.Params.CWD = c.threads[id].cwd
	c.joining = &joining{id: string(start.ID), answer: make(chan bool, 1)}
	return rewritten, c.joining
}

// joinPending says whether the client's messages must be seen before they are handed on.
func (c *conn) joinPending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.joining != nil
}

// refused takes in a message from the client before it is handed on, while a join is under way. It says whether it is the
// client's refusal, which the caller must not see: it never asked.
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
		go j.resend() // the client may not be reading now, and its own words must not wait for that
	}
	return refused
}

// late says that nobody waits for the client's answer any longer. It is false if the answer came meanwhile.
func (c *conn) late(j *joining, resend func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.joining != j {
		return false
	}
	j.resend = resend
	return true
}

// giveUp ends an attempt that gets no answer any more.
func (c *conn) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.joining; j != nil && j.resend == nil {
		j.answer <- true
	}
	c.joining = nil
}

// startOnly are the parameters of thread/start that thread/resume has not (schemas of 0.114 to 0.169).
var startOnly = map[string]bool{"ephemeral": true, "serviceName": true, "sessionStartSource": true, "threadSource": true, "threadId": true}

// resumed turns a request for a new thread into one for the thread with the given id, and leaves everything else of it as
// it was written. It is nil if the message is not of that form.
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
