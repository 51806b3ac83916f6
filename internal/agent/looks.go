package agent

import "bytes"

// looks are the words by which sessions of programs are told that hist does not read yet: the first whose words are all
// in the head counts. As JSON they are never inside of a text there, where quotes are escaped.
var looks = []struct {
	program string
	words   []string
}{
	{"Qwen Code", []string{`"parentUuid"`, `"sessionId"`, `"parts"`}},
	{"Copilot CLI", []string{`"parentId"`, `"type":"session.start"`}},
	{"Copilot CLI", []string{`"parentId"`, `"interactionId"`}},
	{"Gemini CLI", []string{`"sessionId"`, `"projectHash"`}},
}

// LooksLike is the program whose session a head looks like, "" if like none that is known.
func LooksLike(head []byte) string {
	for _, l := range looks {
		all := true
		for _, w := range l.words {
			all = all && bytes.Contains(head, []byte(w))
		}
		if all {
			return l.program
		}
	}
	return ""
}
