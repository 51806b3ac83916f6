package format

import "testing"

func TestTyped(t *testing.T) {
	for prompt, want := range map[string]string{
		"Draw a map of the shed": "Draw a map of the shed",
		"<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args></command-args>":             "",
		"<local-command-stdout></local-command-stdout>":                                                                                "",
		"<local-command-caveat>what follows was run by the user</local-command-caveat>":                                                "",
		"<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>": "/review 12",
		"<bash-input>ls shed</bash-input>": "! ls shed",
		"<bash-stdout>rake</bash-stdout>":  "",
		"<command-name>cut off":            "",
	} {
		if got := TypedOf(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}
