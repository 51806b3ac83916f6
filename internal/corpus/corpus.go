// Package corpus makes long sessions to measure with: valid, undamaged, and of the sizes and shapes that recorded ones
// have. In: a size and a seed. Out: the same bytes every time.
package corpus

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand"
	"strings"
)

// Options say what a session is like.
type Options struct {
	Size      int64 // bytes; the last turn is finished beyond it
	Seed      int64
	Paginated bool // with ordinals, as 0.169.0 writes; else legacy
	Images    bool // four lines of 20 MB with an inline image, if there is room for them
}

// Line lengths follow a log-normal distribution: half of the texts are longer than medianText, one in a hundred is
// longer than longText (bytes; counted in recorded sessions of long use).
const (
	medianText = 1000
	longText   = 22000
	imageSize  = 20 << 20
)

// z99 is how many standard deviations the hundredth part lies above the median.
const z99 = 2.326

type writer struct {
	out      *bufio.Writer
	opts     Options
	rng      *rand.Rand
	pieces   []string // escaped texts to take from
	written  int64
	ordinal  int64
	calls    int
	turns    int
	images   int
	err      error
	nextTime int64
}

// Write writes a session.
func Write(to io.Writer, o Options) error {
	w := &writer{out: bufio.NewWriterSize(to, 1<<20), opts: o, rng: rand.New(rand.NewSource(o.Seed))}
	w.pieces = pieces(w.rng)
	mode := "legacy"
	if o.Paginated {
		mode = "paginated"
	}
	w.record("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"openai","history_mode":%q}`, thread, mode))
	for w.written < o.Size && w.err == nil {
		w.turn()
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

const thread = "01a1edfd-e191-74b0-9003-79b97f4a7c15"

func (w *writer) record(kind, payload string) {
	w.nextTime += 137
	ordinal := ""
	if w.opts.Paginated {
		ordinal = fmt.Sprintf(`"ordinal":%d,`, w.ordinal)
	}
	n, err := fmt.Fprintf(w.out, `{"timestamp":"2026-11-18T%02d:%02d:%02d.%03dZ",%s"type":%q,"payload":%s}`+"\n",
		w.nextTime/3600000%24, w.nextTime/60000%60, w.nextTime/1000%60, w.nextTime%1000, ordinal, kind, payload)
	w.ordinal++
	w.written += int64(n)
	if err != nil {
		w.err = err
	}
}

// turn writes a prompt, some calls with their outputs, and an answer.
func (w *writer) turn() {
	w.turns++
	id := fmt.Sprintf("01a1edff-5f35-7e8c-912f-%012d", w.turns)
	w.record("event_msg", fmt.Sprintf(`{"type":"task_started","turn_id":%q,"model_context_window":258400}`, id))
	w.record("turn_context", fmt.Sprintf(`{"turn_id":%q,"cwd":"/home/dev/demo","approval_policy":"never","sandbox_policy":{"type":"danger-full-access"},"model":"gpt-5.1-codex","summary":"auto"}`, id))
	image := ""
	if w.opts.Images && w.images < 4 && w.written > w.opts.Size/5*int64(w.images+1) {
		w.images++
		image = `,{"type":"input_image","image_url":"data:image/png;base64,` + w.image() + `"}`
	}
	w.record("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+w.text()+`"}`+image+`]}`)
	for range w.rng.Intn(8) {
		w.calls++
		w.record("response_item", fmt.Sprintf(`{"type":"function_call","id":"fc_%d","name":"exec_command","arguments":"{\"cmd\":\"%s\"}","call_id":"call_%d"}`, w.calls, "ls -l", w.calls))
		w.record("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, w.calls, w.text()))
	}
	w.record("response_item", fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`, w.turns, w.text()))
	w.record("event_msg", fmt.Sprintf(`{"type":"task_complete","turn_id":%q,"last_agent_message":"done"}`, id))
}

// text is an escaped text of a length as they occur.
func (w *writer) text() string {
	sigma := math.Log(float64(longText)/medianText) / z99
	n := int(medianText * math.Exp(w.rng.NormFloat64()*sigma))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(w.pieces[w.rng.Intn(len(w.pieces))])
	}
	return b.String()
}

// image is a PNG's header and noise behind it.
func (w *writer) image() string {
	raw := make([]byte, imageSize/4*3)
	w.rng.Read(raw)
	copy(raw, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x06\x00\x00\x00")
	return base64.StdEncoding.EncodeToString(raw)
}

// pieces are lines of code, of a command's output, and of prose, one in ten of it Japanese.
func pieces(rng *rand.Rand) []string {
	words := strings.Fields("reader line offset record turn call output repair the of and a to in file session number bytes that with for is not")
	kana := []rune("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん記録行番号")
	list := make([]string, 512)
	for i := range list {
		var b strings.Builder
		switch {
		case i%10 == 0:
			for range 20 + rng.Intn(40) {
				b.WriteRune(kana[rng.Intn(len(kana))])
			}
		case i%3 == 0:
			fmt.Fprintf(&b, "\tif %s[%q] != \"%s\" {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n", words[rng.Intn(len(words))], words[rng.Intn(len(words))], words[rng.Intn(len(words))], words[rng.Intn(len(words))])
		case i%3 == 1:
			fmt.Fprintf(&b, "-rw-r--r-- 1 dev dev %d Nov 18 09:%02d %s.go\n", rng.Intn(1e6), rng.Intn(60), words[rng.Intn(len(words))])
		default:
			for range 8 + rng.Intn(16) {
				b.WriteString(words[rng.Intn(len(words))] + " ")
			}
			b.WriteString("\n")
		}
		quoted, err := json.Marshal(b.String())
		if err != nil {
			panic(err) // a text always can be
		}
		list[i] = string(quoted[1 : len(quoted)-1])
	}
	return list
}
