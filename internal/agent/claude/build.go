package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/hist-cli/hist/internal/session"
)

// object is a JSON object that hist writes.
type object map[string]any

// json is the object as the client would write it: no spaces, and no escapes for the sake of HTML.
func (o object) json() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		panic(err) // can't happen: strings, numbers, valid raw JSON, and lists of those
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// made is a new record of the tree.
type made struct {
	uuid, parent string
	when         int64
	typ          string // user or assistant
	message      object
	source       string // uuid of the record with the call
	more         object
}

// json writes the record with its members in the client's order. The context (see setting) is taken from a record beside it.
func (m made) json(beside setting) []byte {
	var b bytes.Buffer
	add := func(key string, value any) {
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		one := object{key: value}.json()
		b.Write(one[1 : len(one)-1])
	}
	if m.parent == "" {
		add("parentUuid", nil)
	} else {
		add("parentUuid", m.parent)
	}
	add("isSidechain", false)
	add("userType", "external")
	for _, f := range []struct{ key, value string }{{"cwd", beside.cwd.words}, {"sessionId", beside.session.words}, {"version", beside.version.words}, {"gitBranch", beside.branch.words}} {
		if f.value != "" {
			add(f.key, f.value)
		}
	}
	add("type", m.typ)
	if m.message != nil {
		add("message", m.message)
	}
	for _, key := range []string{"subtype", "content", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "logicalParentUuid", "compactMetadata"} {
		if v, ok := m.more[key]; ok {
			add(key, v)
		}
	}
	add("uuid", m.uuid)
	if m.when != 0 {
		add("timestamp", time.UnixMilli(m.when).UTC().Format(timeForm))
	}
	if result, ok := m.more["toolUseResult"]; ok {
		add("toolUseResult", result)
	}
	if m.source != "" {
		add("sourceToolAssistantUUID", m.source)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// setting is the context that every record of a session repeats.
type setting struct{ cwd, session, version, branch said }

func (c *setting) take(rec *session.Record) {
	c.cwd.take(rec, fieldCwd)
	c.session.take(rec, fieldSession)
	c.version.take(rec, fieldVersion)
	c.branch.take(rec, fieldBranch)
}

// newID returns an id for a record that has none. It is computed from what the record stands for, so that the same repair
// writes the same bytes.
func newID(parts ...string) string {
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
