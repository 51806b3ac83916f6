package repair

import (
	"slices"
	"strings"
	"testing"
)

// TestRedact: an outline shows the structure of a line, and no one's words, wherever they stand.
func TestRedact(t *testing.T) {
	const call = `{"timestamp":"2026-11-18T09:30:00.500Z","ordinal":5,"type":"response_item","payload":{"type":"function_call","call_id":"call_1","name":"exec",`
	for line, want := range map[string]string{
		call + `"arguments":"{\"cmd\":\"Secret\"}"}}`: call + `"arguments":‹20 bytes›}}`,
		call + `"arguments":{"type":"Secret wish","pin":4711,"card":[4111],"list":[{"type":"a"},"Secret"],"ok":true,"Secret?":1}}}`: call +
			`"arguments":{"type":‹11 bytes›,"pin":‹4 bytes›,"card":[‹4 bytes›],"list":[{"type":‹1 bytes›},‹6 bytes›],"ok":true,‹7 bytes›:‹1 bytes›}}}`,
		// Names of members stay; questions, paths, addresses and what is full of digits are content.
		`{"answers":{"Is it Secret?":"yes","/home/Secret":1,"Secret@example.org":2,"k4111411141114111":3,"file_path":"Secret","x-id":4}}`: `{"answers":{‹13 bytes›:‹3 bytes›,‹12 bytes›:1,‹18 bytes›:2,‹17 bytes›:3,"file_path":‹6 bytes›,"x-id":4}}`,
		"\x00\x00\x00{\"type\":\"x\"}\x00": `‹3 NUL bytes›{"type":"x"}‹1 NUL bytes›`,
		`{"type":"response_item","payload":{"type":"message","role":"user,"content":[{"type":"input_text","text":"call \"Secret, my\" at \"Secret"}]}}`: `{"type":"response_item","payload":{"type":"message","role":‹5 bytes›‹75 bytes›`,
		`{"type":"event_msg","payload":{"type":"x","name":"my Secret friend"}}`:                                                                         `{"type":"event_msg","payload":{"type":"x","name":‹16 bytes›}}`,
		`{"type":"response_item","payload":{"content":[{"type":"input_text","text":"Secret`:                                                             `{"type":"response_item","payload":{"content":[{"type":"input_text","text":‹6 bytes›`,
		`{"type":"response_item",Secret`:      `{"type":"response_item",‹6 bytes›`,
		`{"type":"response_item" "Secret":1}`: `{"type":"response_item" ‹11 bytes›`,
		`Secret {"type":"x"}`:                 `‹19 bytes›`,
		`{"type":"x","secret":{"name":"Secret"},"payload":{"a":{"b":-1.5e3},"name":"exec","n":12-34}}`:                                                                                                                                          `{"type":"x","secret":{"name":‹6 bytes›},"payload":{"a":{"b":‹6 bytes›},"name":"exec","n":12‹5 bytes›`,
		`{"parentUuid":"22222222-2222-4222-8222-000000000006","cwd":"/home/Secret","type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"Secret","input":{"Secret key":1}}]},"toolUseResult":{"type":"Secret"}}`: `{"parentUuid":"22222222-2222-4222-8222-000000000006","cwd":‹12 bytes›,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":‹6 bytes›,"input":{‹10 bytes›:‹1 bytes›}}]},"toolUseResult":{"type":‹6 bytes›}}`,
		`{"a":1}{"Secret":2}`: `{"a":1}‹12 bytes›`,
	} {
		got := Redact([]byte(line))
		if got != want {
			t.Errorf("%s\ngave %s\nwant %s", line, got, want)
		}
		if strings.Contains(got, "Secret") || strings.Contains(got, "4711") || strings.Contains(got, "4111") {
			t.Errorf("%s tells a secret", got)
		}
	}
}

// What hist says in the place of what is lost is shown, and nothing that stands beside it.
func TestPlaceholders(t *testing.T) {
	e := Entry{
		Before: []Excerpt{{Text: []byte(`{"text":"[hist: it stood there before]"}`)}},
		After: []Excerpt{
			{Text: []byte(`{"output":"Outcome unknown: it was cut.\nsecret","also":["[hist: a call was lost]\nsecret","[hist: a call was lost]"]}`)},
			{Text: []byte(`{"text":"[hist: it stood there before]","said":"see [hist: secret]","more":"[hist: secret] secret","cut":"[hist: secret`)},
			{Text: []byte(`{"said":"see [hist: secret]","more":"[hist: secret] secret","open":"[hist: secret","old":"[hist: it stood there before]"}`)},
		},
	}
	want := []string{"Outcome unknown: it was cut.", "[hist: a call was lost]"}
	if got := e.Placeholders(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
