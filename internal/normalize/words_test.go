package normalize

import "testing"

// TestWholeWords: a newline goes out of what nobody broke, and stays in what somebody may have written.
func TestWholeWords(t *testing.T) {
	for text, want := range map[string]string{
		`{"call` + "\n" + `_id":"x"}`:                                        `{"call_id":"x"}`,
		`{"id":"01a1edfd-e191-` + "\n" + `74b0-9003-79b97f4a7c15"}`:          `{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15"}`,
		`{"at":"2026-11-22T17:29:` + "\n" + `16.157Z"}`:                      `{"at":"2026-11-22T17:29:16.157Z"}`,
		`{"output":"notes-1.txt` + "\n" + `notes-2.txt"}`:                    "",
		`{"output":"3a9f0c71d2e84b56` + "\n" + `"}`:                          "",
		`{"output":"notes1.txt` + "\n" + `notes2.txt` + "\n" + `plan3.txt"}`: "",
		`{"text":"step 1:` + "\n" + `look around"}`:                          "",
		`{"text":"ls1` + "\n" + `ls2"}`:                                      "",
		`{"text":"a \"quoted` + "\n" + `id01a1edfde19174b0\" b"}`:            "",
	} {
		if want == "" {
			want = text
		}
		if got := string(wholeWords([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
