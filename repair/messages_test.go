package repair

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestEventsWithoutWords: of an event that lost its words no message is made, for the client can't read one without; a
// prompt that was nothing but an image is made of the image alone.
func TestEventsWithoutWords(t *testing.T) {
	header := `{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/notes","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}` + "\n"
	torn := `{"timestamp":"2026-11-18T09:30:00.5` + "\n"
	event := func(payload string) string {
		return `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":` + payload + "}\n"
	}
	image := `{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`
	for name, test := range map[string]struct{ text, made string }{
		"an answer whose text is gone":     {event(`{"type":"agent_message","mes":"Done."}`), ""},
		"an empty answer":                  {event(`{"type":"agent_message","message":""}`), ""},
		"an answer":                        {event(`{"type":"agent_message","message":"Done."}`), `"content":[{"type":"output_text","text":"Done."}]`},
		"an answer of two parts":           {event(`{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":""},{"type":"Text","text":"Done."}]}}`), `"content":[{"type":"output_text","text":"Done."}]`},
		"a prompt without words or images": {torn + event(`{"type":"user_message","message":"","images":[]}`), ""},
		"a prompt of a part not known":     {torn + event(`{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"x","text":"q"}]}}`), ""},
		"a prompt that is an image":        {torn + event(`{"type":"user_message","message":"","images":["data:image/png;base64,AAAA"]}`), `"content":[` + image + `]`},
	} {
		got, rep, err := repairAs([]byte(header+test.text), lint.Options{}, Choice{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made := 0
		for _, e := range rep.Edits {
			if e.Rule == "lost-message" {
				made++
			}
		}
		switch {
		case test.made == "" && (made > 0 || bytes.Contains(got, []byte("response_item"))):
			t.Errorf("%s: a message is made of it: %s", name, got)
		case test.made != "" && (made != 1 || !strings.Contains(string(got), test.made)):
			t.Errorf("%s: %d messages are made of it: %s", name, made, got)
		}
	}
}
