package codex

import (
	"testing"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

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

// TestModernize: only what the client would read then is given another shape.
func TestModernize(t *testing.T) {
	for payload, old := range map[string]bool{
		`{"type":"function_call_output","call_id":"c","output":{"content":"x"}}`:                                         true,
		`{"type":"function_call_output","call_id":["c"],"output":{"content":"x"}}`:                                       false,
		`{"type":"function_call_output","id":7,"call_id":"c","output":{"content":"x"}}`:                                  false,
		`{"type":"local_shell_call","status":"completed","action":{"type":"exec","command":["ls"],"timeout_ms":1000.0}}`: true,
		`{"type":"local_shell_call","status":"weird","action":{"type":"exec","command":["ls"],"timeout_ms":1000.0}}`:     false,
		`{"type":"local_shell_call","status":"completed","action":{"type":"exec","command":"ls","timeout_ms":1000.0}}`:   false,
		`{"type":"reasoning","encrypted_content":"gAAAAAB"}`:                                                             true,
		`{"type":"reasoning","summary":null,"encrypted_content":"gAAAAAB"}`:                                              true,
		`{"type":"reasoning","content":"x","encrypted_content":"gAAAAAB"}`:                                               false,
		`{"type":"function_call","name":"f","arguments":"{}","call_id":"c","namespace":7}`:                               true,
		`{"type":"function_call","arguments":"{}","call_id":"c","namespace":7}`:                                          false,
	} {
		rec := scanned(t, payload)
		cut, what := Modernize(rec)
		if (what != "") != old {
			t.Errorf("%s: %q", payload, what)
			continue
		}
		if !old {
			continue
		}
		line, err := session.Apply(rec.Raw, []session.Cut{cut})
		if err != nil {
			t.Fatal(err)
		}
		if why := Misfit(scannedLine(t, line)); why != "" {
			t.Errorf("%s: %s", line, why)
		}
	}
}

// scanned is a record with this payload.
func scanned(t *testing.T, payload string) *session.Record {
	t.Helper()
	return scannedLine(t, []byte(`{"timestamp":"2026-11-18T09:30:00.000Z","type":"response_item","payload":`+payload+`}`))
}

func scannedLine(t *testing.T, line []byte) *session.Record {
	t.Helper()
	var dec Decoder
	rec := session.Record{Raw: line, Spans: make([]jsonl.Span, dec.Paths())}
	if v := jsonl.NewScanner(dec.Shape()).Scan(line, rec.Spans); v.Fault != jsonl.None {
		t.Fatalf("%s: %v", line, v)
	}
	return &rec
}
