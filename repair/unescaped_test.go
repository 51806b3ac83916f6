package repair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestMissingBackslash takes out each backslash of a record that leaves no JSON, and all in front of each quote: in a text, in JSON within a
// text, in JSON within that, and in a key.
func TestMissingBackslash(t *testing.T) {
	const id = "01a1edfd-e191-74b0-9003-79b97f4a7c15"
	inner, _ := json.Marshal(map[string]string{"cmd": `echo "two words" | sed "s/\"x\"/y/"`, "dir": `C:\garden\new`})
	outer, _ := json.Marshal(fmt.Sprintf("Plant the \"early\" peas in C:\\garden, then run '%s'.\nThen \"stop\".", inner))
	key, _ := json.Marshal(`a "wide" key`)
	head := `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/dev"}` + "\n"
	line := `{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-11-20T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":` +
		string(outer) + `}],` + string(key) + `:1,"timestamp":1}}` + "\n"
	tried := 0
	for i := range line {
		if line[i] != '\\' {
			continue
		}
		quote := i + len(line[i:]) - len(strings.TrimLeft(line[i:], `\`))
		cuts := []int{i + 1}
		if i > 0 && line[i-1] != '\\' && line[quote] == '"' {
			cuts = append(cuts, quote)
		}
		for _, end := range cuts {
			hurt := line[:i] + line[end:]
			if json.Valid([]byte(hurt)) {
				continue
			}
			tried++
			out, _, err := repairText([]byte(head+hurt), "", Choice{})
			if err != nil || string(out) != head+line {
				t.Errorf("%s\n%v, repaired:\n%s", hurt, err, out)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d tried", tried)
	}
}
