package jsonl

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// wanted are the paths most tests scan for.
var wanted = []string{
	"type", "timestamp", "ordinal", "payload", "payload.type", "payload.call_id",
	"payload.id", "payload.turn_id", "payload.item.type", "payload.item.id", "payload.content.[0].text", "payload.item.deep.er",
}

func mustCompile(paths ...string) *Shape {
	s, err := Compile(paths...)
	if err != nil {
		panic(err)
	}
	return s
}

// seedLines are healthy lines of the kinds that agents write, and some that
// only a grammar knows.
var seedLines = []string{
	`{"timestamp":"2026-11-20T19:49:52.585Z","type":"session_meta","payload":{"id":"01a1fa82-1922-7c30-a964-32786b9d9e8c","cwd":"/home/dev/demo","cli_version":"0.114.0","git":null,"base_instructions":{"text":"You are a coding agent."}}}`,
	`{"timestamp":"2026-11-20T19:49:52.586Z","ordinal":3,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<cwd>/home/dev</cwd>\n  \"quoted\" \\ done"}]}}`,
	`{"timestamp":"2026-11-20T19:49:52.656Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"printf 'a\\\\nb\\\\n'\", \"ms\": 30000}","call_id":"call_1"}}`,
	`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"msg_1","deep":{"er":[1,2,{"x":{"y":[[]]}}]}},"turn_id":"t-1"}}`,
	`{"type":"event_msg","payload":{"type":"token_count","info":{"total":{"input":10,"ratio":-0.5e-3,"big":1E+22},"none":{},"empty":[]},"ok":true,"bad":false}}`,
	`{"type":"x","payload":{"text":"日本語のテキスト、それから😀 and é","esc":"\u65e5\ud83d\ude00\u0000\b\f\/"}}`,
	"  {\t\"type\" : \"spaced\" ,\r\n \"payload\" : { \"id\" : [ 1 , 2 ] , \"type\" : { } } }  ",
	`{"\u0074ype":"escaped key","p\u0061yload":{"c\u0061ll_id":7}}`,
	`[[[[[{"a":[{"b":[[1],[2]]}]}]]]]]`,
	`[1,-0,0.25,1e5,"s",null,true,false,{},[]]`,
	`"only a string"`, `-12.5e+3`, `null`, `0`, `[]`, `{}`, `""`,
	`{"":1,"a":{"":2}}`,
}

// mutate changes one to four places of a line, the way crashes, editors and
// broken disks do.
func mutate(r *rand.Rand, line []byte) []byte {
	const spice = "\"\\{}[]:,u0123456789eE+-.tfn \t\r\n\x00\x1f\x7f\x80\xbf\xc0\xe3\xed\xf0\xff"
	line = append([]byte(nil), line...)
	for n := 1 + r.IntN(4); n > 0; n-- {
		if len(line) == 0 {
			return append(line, spice[r.IntN(len(spice))])
		}
		i := r.IntN(len(line))
		switch r.IntN(8) {
		case 0:
			line[i] = spice[r.IntN(len(spice))]
		case 1:
			line[i] ^= 1 << r.IntN(8)
		case 2:
			line = append(line[:i], line[i+1:]...)
		case 3:
			c := spice[r.IntN(len(spice))]
			line = append(line[:i], append([]byte{c}, line[i:]...)...)
		case 4:
			if r.IntN(4) == 0 {
				line = line[:i]
			}
		case 5: // a piece twice
			j := i + r.IntN(min(len(line)-i, 24)+1)
			line = append(line[:j], append([]byte(string(line[i:j])), line[j:]...)...)
		case 6: // a piece lost
			j := i + r.IntN(min(len(line)-i, 24)+1)
			line = append(line[:i], line[j:]...)
		case 7: // two bytes change places
			j := r.IntN(len(line))
			line[i], line[j] = line[j], line[i]
		}
	}
	return line
}

// mixedLines is a corpus of about n bytes: short lines, tool outputs full of
// escapes, Japanese text, and a base64 line of 1 MB in every 12 MB.
func mixedLines(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	code := `func main() {\n\tfmt.Println(\"hello, world\")\n\tif err != nil {\n\t\treturn fmt.Errorf(\"open %q: %w\", name, err)\n\t}\n}\n`
	prose := `The tests pass now; I changed the loop so that the last element is not read twice, and removed the flag. `
	japanese := `テストは成功しました。最後の要素が二度読まれないようにループを変更し、`
	head := `{"timestamp":"2026-11-20T19:49:52.656Z","type":"response_item","payload":`
	var lines []string
	image := 0
	for size := 0; size < n; size += len(lines[len(lines)-1]) {
		line := ""
		switch k := r.IntN(10); {
		case size > image*12_000_000+n/2:
			image++
			line = base64Line(1_000_000)
		case k < 3:
			line = seedLines[r.IntN(5)]
		case k < 5:
			line = head + `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + strings.Repeat(prose, 1+r.IntN(12)) + `"}]}}`
		case k < 9:
			line = head + `{"type":"function_call_output","call_id":"call_` + strings.Repeat("x", r.IntN(20)) + `","output":"` + strings.Repeat(code, 1+r.IntN(30)) + `"}}`
		default:
			line = head + `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat(japanese, 1+r.IntN(6)) + `"}]}}`
		}
		lines = append(lines, line)
	}
	return lines
}

func base64Line(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	raw := make([]byte, n*3/4)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return `{"timestamp":"2026-11-20T19:49:52.656Z","type":"response_item","payload":{"type":"message","content":[{"type":"input_image","image_url":"data:image/png;base64,` +
		base64.StdEncoding.EncodeToString(raw) + `"}]}}`
}
