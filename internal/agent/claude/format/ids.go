package format

import (
	"strings"
)

// IsID says whether a text is a session's id.
func IsID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}

// AgentName is the agent's name in reports.
const AgentName = "claude"

// Extension ends the name of a session's file.
const Extension = ".jsonl"
