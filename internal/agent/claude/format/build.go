package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/hist-cli/hist/internal/session"
)

// Object is a JSON object that hist writes.
type Object map[string]any

// JSON is the object as the client would write it: no spaces, and no escapes for the sake of HTML.
func (o Object) JSON() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		panic(err) // can't happen: strings, numbers, valid raw JSON, and lists of those
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Made is a new record of the tree.
type Made struct {
	UUID, Parent string
	When         int64
	Typ          string // user or assistant
	Message      Object
	Source       string // uuid of the record with the call
	More         Object
}

// JSON writes the record with its members in the client's order. The context (see setting) is taken from a record beside it.
func (m Made) JSON(beside Setting) []byte {
	var b bytes.Buffer
	add := func(key string, value any) {
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		one := Object{key: value}.JSON()
		b.Write(one[1 : len(one)-1])
	}
	if m.Parent == "" {
		add("parentUuid", nil)
	} else {
		add("parentUuid", m.Parent)
	}
	add("isSidechain", beside.Side)
	add("userType", "external")
	for _, f := range []struct{ key, value string }{{"cwd", beside.Cwd.Words}, {"sessionId", beside.Session.Words}, {"version", beside.Version.Words}, {"gitBranch", beside.Branch.Words}, {"agentId", beside.Agent.Words}} {
		if f.value != "" {
			add(f.key, f.value)
		}
	}
	add("type", m.Typ)
	if m.Message != nil {
		add("message", m.Message)
	}
	for _, key := range []string{"subtype", "content", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "logicalParentUuid", "compactMetadata"} {
		if v, ok := m.More[key]; ok {
			add(key, v)
		}
	}
	add("uuid", m.UUID)
	if m.When != 0 {
		add("timestamp", time.UnixMilli(m.When).UTC().Format(TimeForm))
	}
	if result, ok := m.More["toolUseResult"]; ok {
		add("toolUseResult", result)
	}
	if m.Source != "" {
		add("sourceToolAssistantUUID", m.Source)
	}
	b.WriteByte('}')
	return bytes.Clone(b.Bytes()) // of its length: there can be many, and all are kept
}

// Setting is the context that every record of a session repeats.
type Setting struct {
	Cwd, Session, Version, Branch, Agent said

	Side bool // the records are marked as a sub-agent's, in a file of its own: a client reads no other there
}

// Take takes over what the record says of its context.
func (c *Setting) Take(rec *session.Record) {
	c.Cwd.Take(rec, FieldCwd)
	c.Session.Take(rec, FieldSession)
	c.Version.Take(rec, FieldVersion)
	c.Branch.Take(rec, FieldBranch)
	if c.Side {
		c.Agent.Take(rec, FieldAgentID)
	}
}

// NewID returns an id for a record that has none. It is computed from what the record stands for, so that the same repair
// writes the same bytes.
func NewID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	s := h.Sum(nil)
	s[6], s[8] = s[6]&0x0f|0x40, s[8]&0x3f|0x80
	x := hex.EncodeToString(s[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
