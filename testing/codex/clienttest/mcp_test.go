package clienttest

import (
	"bytes"
	"strings"
	"testing"
)

func TestServeMCP(t *testing.T) {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi","image":true}}}
{"jsonrpc":"2.0","id":"x","method":"resources/list"}
`)
	var out bytes.Buffer
	if err := serveMCP(in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{`"protocolVersion":"2025-06-18"`, `"name":"echo"`, MCPWords + "hi", "no method resources/list"} {
		if len(lines) != 4 || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d of %d has no %q: %s", i+1, len(lines), want, out.String())
		}
	}
	if !strings.Contains(lines[2], pixel) {
		t.Error("the image is missing")
	}
	if err := serveMCP(strings.NewReader("no JSON\n"), &out); err == nil {
		t.Error("what is no message was passed over")
	}
}
