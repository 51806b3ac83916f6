package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// class is what a session is taken for.
type class int

const (
	healthy class = iota // nothing is found
	alarm                // something is found, and nobody has said yet that it is so
	stopped              // all that is found is that the end is missing: the file was kept while its client wrote it, or the client was stopped
	damaged              // a person has looked at it: it is damaged
)

// judge sorts a session.
func (s *sighting) judge(judged map[string]string) {
	s.class = healthy
	end := true
	for i := range s.findings {
		if f := &s.findings[i]; f.damages() {
			s.class = alarm
			end = end && s.atEnd(f)
		}
	}
	switch reason, known := judged[s.hash]; {
	case s.class == healthy:
	case known:
		s.class, s.reason = damaged, reason
	case end:
		s.class = stopped
	}
}

// atEnd says whether a finding is that a call at the end has no output, or that the prompt that came last was not taken up.
func (s *sighting) atEnd(f *found) bool {
	switch f.Rule {
	case "unfinished-call":
		return true
	case "lost-prompt":
		return strings.HasPrefix(f.Message, "the last prompt")
	case "call-without-output":
		return f.Line > s.lines-int64(len(s.findings)) // nothing but such calls follows
	}
	return false
}

// writer is who wrote a file.
type writer struct {
	agent   string // codex or claude; "" if that can't be told
	version string // of the first record that names one
	through string // the program in front of it, as the session names it
	kind    string // what the file is
}

// maxLook is how many records are looked at for the writer.
const maxLook = 200

// writerOf reads from a session's first records who wrote it.
func writerOf(name string, text []byte) writer {
	w := writer{kind: "session"}
	switch {
	case name == "full.jsonl":
		w.kind = "checkpoint"
	case strings.HasPrefix(name, "agent-"):
		w.kind = "sub-agent"
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 0; n < maxLook && lines.Scan() && w.version == ""; n++ {
		var rec struct {
			Type       string `json:"type"`
			Version    string `json:"version"`
			Session    string `json:"sessionId"`
			Entrypoint string `json:"entrypoint"`
			Payload    struct {
				Version    string          `json:"cli_version"`
				Originator string          `json:"originator"`
				Source     json.RawMessage `json:"source"`
			} `json:"payload"`
		}
		if json.Unmarshal(lines.Bytes(), &rec) != nil {
			continue
		}
		switch {
		case rec.Type == "session_meta":
			w.agent, w.version, w.through = "codex", rec.Payload.Version, rec.Payload.Originator
			if bytes.Contains(rec.Payload.Source, []byte("subagent")) {
				w.kind = "sub-agent"
			}
		case rec.Session != "":
			w.agent, w.version, w.through = "claude", rec.Version, rec.Entrypoint
		}
	}
	w.version, w.through = cmp.Or(w.version, "unknown"), cmp.Or(w.through, "-")
	return w
}
