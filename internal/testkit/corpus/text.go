package corpus

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strings"
)

// text returns a text of random length around the median.
func (w *writer) text() piece { return w.textOf(w.opts.Text) }

// textOf returns a text of random length around the given median.
func (w *writer) textOf(median int) piece {
	n := int(float64(median) * math.Exp(w.rng.NormFloat64()*math.Log(spread)/z99))
	var once, twice strings.Builder
	for once.Len() < n {
		p := w.pieces[w.rng.Intn(len(w.pieces))]
		once.WriteString(p.once)
		twice.WriteString(p.twice)
	}
	return piece{once.String(), twice.String()}
}

// noise returns the random bytes that make n bytes of base64.
func (w *writer) noise(n int) []byte {
	raw := make([]byte, n/4*3)
	w.rng.Read(raw)
	return raw
}

// image returns a PNG whose image data are random, as base64.
func (w *writer) image() string {
	const before, around, end = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x06\x00\x00\x00\x00\x00\x00\x00", 12, "\x00\x00\x00\x00IEND\xaeB\x60\x82"
	raw := w.noise(imageSize)
	copy(raw, before)
	binary.BigEndian.PutUint32(raw[len(before):], uint32(len(raw)-len(before)-around-len(end)))
	copy(raw[len(before)+4:], "IDAT")
	copy(raw[len(raw)-len(end):], end)
	return base64.StdEncoding.EncodeToString(raw)
}

// pieces are lines of code, of a command's output, and of prose, one in ten of it Japanese.
func pieces(rng *rand.Rand) []piece {
	words := strings.Fields("reader line offset record turn call output repair the of and a to in file session number bytes that with for is not")
	kana := []rune("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん記録行番号")
	list := make([]piece, 512)
	for i := range list {
		var b strings.Builder
		switch {
		case i%10 == 0:
			for range 20 + rng.Intn(40) {
				b.WriteRune(kana[rng.Intn(len(kana))])
			}
		case i%3 != 0:
			fmt.Fprintf(&b, "\tif %s[%q] != \"%s\" {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n", words[rng.Intn(len(words))], words[rng.Intn(len(words))], words[rng.Intn(len(words))], words[rng.Intn(len(words))])
		case i%2 == 0:
			fmt.Fprintf(&b, "-rw-r--r-- 1 dev dev %d Nov 18 09:%02d %s.go\n", rng.Intn(1e6), rng.Intn(60), words[rng.Intn(len(words))])
		default:
			for range 8 + rng.Intn(16) {
				b.WriteString(words[rng.Intn(len(words))] + " ")
			}
			b.WriteString("\n")
		}
		once := quoted(b.String())
		list[i] = piece{once, quoted(once)}
	}
	return list
}

// quoted escapes a text for a JSON string, without the quotes.
func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be marshalled
	}
	return string(q[1 : len(q)-1])
}
