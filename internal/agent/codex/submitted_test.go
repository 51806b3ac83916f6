package codex

import "testing"

// TestPromptFromLog reads prompts out of rows of a client's log, and nothing out of others.
func TestPromptFromLog(t *testing.T) {
	const head = `session_loop{thread_id=T1}: Submission sub=Submission { id: "turn-1", op: `
	const newer = head + `TurnInput { request: TurnInputRequest { input: UserInput { content: [Text { text: "`
	for _, c := range []struct{ name, row, want string }{
		{"0.120 to 0.145", head + `UserInput { items: [Text { text: "one", text_elements: [] }], environments: None } }`, "one"},
		{"from 0.148 on", newer + `one", text_elements: [] }], client_id: None } } } }`, "one"},
		{"what is escaped", newer + `a \"b\" \\n \n\t\u{2028}\u{1f600} 'c'", text_elements: [] }], client_id: None`, "a \"b\" \\n \n\t\u2028\U0001f600 'c'"},
		{"two parts", newer + `one", text_elements: [] }, Text { text: "two", text_elements: [] }], client_id: None`, ""},
		{"an image in front", head + `UserInput { items: [Image { url: "x" }, Text { text: "one", text_elements: [] }]`, ""},
		{"a text with elements", newer + `one", text_elements: [TextElement { }] }]`, ""},
		{"another thread", `session_loop{thread_id=T2}: Submission sub=Submission { id: "turn-1", op: UserInput { items: [Text { text: "one", text_elements: [] }]`, ""},
		{"another operation", head + `Review { items: [Text { text: "one", text_elements: [] }]`, ""},
		{"a row that is cut", newer + `one`, ""},
		{"an escape that is none", newer + `one\q", text_elements: [] }]`, ""},
		{"no number", newer + `one\u{zz}", text_elements: [] }]`, ""},
	} {
		turn, text, ok := PromptFromLog("T1", c.row)
		if ok != (c.want != "") || ok && (text != c.want || turn != "turn-1") {
			t.Errorf("%s: %q, %q, %v; want %q", c.name, turn, text, ok, c.want)
		}
	}
}
