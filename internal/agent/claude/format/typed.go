package format

import "strings"

// TypedOf is what the user typed of a prompt: the client writes commands, and what they print, as prompts with marks of its own.
// A command that only clears or shows something asks for nothing.
func TypedOf(prompt string) string {
	text := strings.TrimSpace(prompt)
	switch {
	case strings.HasPrefix(text, "<local-command-"), strings.HasPrefix(text, "<bash-std"):
		return ""
	case strings.HasPrefix(text, "<bash-input>"):
		return "! " + strings.TrimSpace(inMarks(text, "<bash-input>", "</bash-input>"))
	case strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<command-message>"):
		name := "/" + strings.TrimPrefix(strings.TrimSpace(inMarks(text, "<command-name>", "</command-name>")), "/")
		if name == "/" || name == "/clear" || name == "/compact" {
			return ""
		}
		return strings.TrimSpace(name + " " + strings.TrimSpace(inMarks(text, "<command-args>", "</command-args>")))
	}
	return prompt
}

// inMarks is what stands between two marks of a text, "" if one is not there.
func inMarks(text, begin, end string) string {
	_, text, _ = strings.Cut(text, begin)
	text, _, ok := strings.Cut(text, end)
	if !ok {
		return ""
	}
	return text
}
