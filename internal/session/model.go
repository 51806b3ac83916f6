package session

import (
	"regexp"
	"strings"
)

// BindsThinking says whether a model's thinking is bound to what stands in front of it, so that its API refuses it once that has changed. That of
// the Claude models before 5 is not.
func BindsThinking(model string) bool {
	return strings.Contains(model, "claude") && !unbound.MatchString(model)
}

var unbound = regexp.MustCompile(`claude-(?:[12]|3|instant|(?:opus|sonnet|haiku)-4)`)
