package lint

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestDamageTakesItsTime lints lines with very many damages. With a look at the whole line for each, every one of them
// would take minutes.
func TestDamageTakesItsTime(t *testing.T) {
	const time = `"timestamp":"2026-11-18T09:30:00.000Z"`
	n := 1 << 17
	if testing.Short() {
		n >>= 3
	}
	for name, text := range map[string]string{
		"glued records":             strings.Repeat(`{`+time+`,"type":"x","payload":{}}`, n) + "\n",
		"torn records":              strings.Repeat(`{`+time+`,"type":"x","payl`, n) + "\n",
		"torn and whole records":    strings.Repeat(`{`+time+`,"type":"x","payl{`+time+`,"type":"x","payload":{}}`, n/2) + "\n",
		"no UTF-8 in a text":        `{` + time + `,"type":"x","payload":{"a":"` + strings.Repeat("\xff", 16*n) + `"}}` + "\n",
		"nothing but that":          strings.Repeat("\xff", 16*n) + "\n",
		"open brackets":             `{` + time + `,"type":"x","payload":{"a":` + strings.Repeat("[", n) + strings.Repeat("1,", n) + "\n",
		"a mark before each record": strings.Repeat(`>{`+time+`,"type":"x","payload":{"a":"b`+strings.Repeat("y", 100)+"\n", n/32),
		"a mark before each line":   strings.Repeat(`>{`+time+`,"type":"x","payload":{"a":"b"}}`+"\n", n/8),
	} {
		res, err := Session(context.Background(), io.MultiReader(strings.NewReader(`{`+time+`,"type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15"}}`+"\n"), strings.NewReader(text)), Options{})
		if err != nil || len(res.Findings) == 0 {
			t.Errorf("%s: %v, no finding", name, err)
		}
	}
}
