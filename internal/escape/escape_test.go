package escape

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// everyHidden has a character of each kind that must never be printed as it is.
const everyHidden = "a\x01\x1b[31m\x7f\u0085\u009b[31m\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029\ufeff\u200b\u2060\u2064\U000e0001\U000e0041\U000e007fz é 日本 👩‍💻"

// TestEachHidden: each of them is hidden, and what is behind them is not.
func TestEachHidden(t *testing.T) {
	hidden, shown, _ := strings.Cut(strings.TrimPrefix(everyHidden, "a"), "z")
	for _, r := range strings.ReplaceAll(hidden, "[31m", "") {
		if !Hidden(r) {
			t.Errorf("%U is shown", r)
		}
	}
	if raw(shown) {
		t.Errorf("%q is not shown", shown)
	}
}

func raw(s string) bool { return strings.ContainsFunc(s, Hidden) }

// In JSON and XML an escape means the same; cut anywhere, a text is escaped alike.
func TestEscaped(t *testing.T) {
	text, err := json.Marshal(everyHidden)
	if err != nil || !raw(string(text)) {
		t.Fatalf("%q, %v: there is nothing to escape", text, err)
	}
	for cut := range text {
		var out bytes.Buffer
		w := JSON(&out)
		for _, part := range [][]byte{text[:cut], text[cut:]} {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != everyHidden || raw(out.String()) {
			t.Fatalf("cut at %d: %q means %q, %v", cut, out.String(), back, err)
		}
	}
	var out bytes.Buffer
	clean := strings.NewReplacer("\x01", "", "\x1b", "").Replace(everyHidden) // XML has no form for these
	if err := xml.NewEncoder(XML(&out)).Encode(struct {
		XMLName xml.Name `xml:"x"`
		A       string   `xml:"a,attr"`
		Text    string   `xml:",chardata"`
	}{A: clean, Text: clean}); err != nil {
		t.Fatal(err)
	}
	var back struct {
		A    string `xml:"a,attr"`
		Text string `xml:",chardata"`
	}
	if err := xml.Unmarshal(out.Bytes(), &back); err != nil || back.A != clean || back.Text != clean || raw(out.String()) {
		t.Errorf("%q means %+v, %v", out.String(), back, err)
	}
	out.Reset()
	io.WriteString(HTML(&out), everyHidden)
	if raw(out.String()) || !strings.HasSuffix(out.String(), "z é 日本 👩‍💻") {
		t.Errorf("%q", out.String())
	}
}
