package codex

import "testing"

// TestPlainOutput: nothing that an old output object says is lost, and the client can read what is made of it.
func TestPlainOutput(t *testing.T) {
	for object, want := range map[string]string{
		`{"content":"notes.txt\n","success":true}`:                           `"notes.txt\n"`,
		`{"content":"notes.txt\n","content_items":[],"success":true}`:        `"notes.txt\n"`,
		`{"content":"x","content_items":[{"type":"input_text","text":"x"}]}`: `[{"type":"input_text","text":"x"}]`,
		`{"content_items":[{"type":"input_image","image_url":"data:,"}]}`:    `[{"type":"input_image","image_url":"data:,"}]`,
		`{"content":"KEEP","content_items":[{"type":"text","text":"x"}]}`:    `"{\"content\":\"KEEP\",\"content_items\":[{\"type\":\"text\",\"text\":\"x\"}]}"`,
		`{"content":null,"content_items":[]}`:                                `"{\"content\":null,\"content_items\":[]}"`,
		`{"stdout":"a"}`:                                                     `"{\"stdout\":\"a\"}"`,
	} {
		if got := plainOutput([]byte(object)); string(got) != want {
			t.Errorf("%s\ngave %s\nwant %s", object, got, want)
		}
	}
}
