package surgery

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/session"
)

// ExportOptions say how a session is told.
type ExportOptions struct {
	Plain     bool // text instead of Markdown
	MaxOutput int  // longer outputs are clipped to so many bytes; 0: none
	All       bool // also what is not sent, marked
	// Image keeps an image and returns what leads to it from the text; nil: images are only named.
	Image func(name string, data []byte) (link string, err error)
}

// Export writes what a session's client sends, for a person to read or a model to take as context.
func Export(w io.Writer, s *Session, opts ExportOptions) error {
	if s.Sent == nil {
		return Refuse("hist does not know yet what the client of this agent sends")
	}
	e := &exporter{w: bufio.NewWriter(w), s: s, opts: opts, fence: "```"}
	e.head()
	if !opts.All {
		for i := range s.Sent.Items {
			e.item(&s.Sent.Items[i], true)
		}
		return e.end()
	}
	// In the order of the file, what is not sent has its place, too.
	sent := map[session.Pos][]*session.Item{}
	for i := range s.Sent.Items {
		it := &s.Sent.Items[i]
		if i < s.Sent.Inherited {
			e.item(it, true)
			continue
		}
		sent[it.Pos] = append(sent[it.Pos], it)
	}
	for i := range s.Records {
		rec := &s.Records[i]
		for _, it := range sent[rec.Pos] {
			e.item(it, true)
		}
		if len(sent[rec.Pos]) == 0 {
			for _, it := range unsent(rec) {
				e.item(&it, false)
			}
		}
	}
	return e.end()
}

// unsent are the items of a record that is not sent.
func unsent(rec *session.Record) []session.Item {
	it := session.Item{Pos: rec.Pos}
	switch rec.Kind {
	case session.Message:
		it.Role = "user"
		if rec.Answer {
			it.Role = "assistant"
		}
	case session.Call:
		it.Kind, it.Role = session.CallItem, "assistant"
	case session.Output:
		it.Kind = session.OutputItem
	default:
		return nil
	}
	for _, path := range []string{"payload", "message"} {
		if v, ok := At(rec.Raw, path); ok && v.IsObject() {
			it.Content = rec.Raw[v.Start:v.End]
			if tool := v.Get("name"); tool.Exists() {
				it.Tool = tool.String()
			}
			return []session.Item{it}
		}
	}
	return nil
}

// exporter writes one session.
type exporter struct {
	w      *bufio.Writer
	s      *Session
	opts   ExportOptions
	fence  string
	turn   int // whose heading was written last
	in     int // that of the item in hand
	who    string
	images int
	err    error
}

func (e *exporter) head() {
	i := e.s.Info
	title := "Session " + oneLine(i.ID)
	if e.opts.Plain {
		fmt.Fprintf(e.w, "%s\n", title)
	} else {
		fmt.Fprintf(e.w, "# %s\n\n", title)
	}
	for _, f := range [][2]string{{"agent", strings.TrimSpace(e.s.Agent.Title + " " + i.Version)}, {"directory", i.CWD}} {
		if f[1] != "" {
			e.line("- " + f[0] + ": " + oneLine(f[1]))
		}
	}
	if e.s.Damaged != nil {
		e.line("- damaged, so something may be missing: " + oneLine(e.s.Damaged.Error()))
	}
	if e.s.Sent.Refused != "" {
		e.line("- the client does not resume it: " + oneLine(e.s.Sent.Refused))
	}
}

func (e *exporter) line(text string) { fmt.Fprintln(e.w, text) }

func (e *exporter) end() error {
	if err := e.w.Flush(); err != nil {
		return err
	}
	return e.err
}

// item writes one item of the history.
func (e *exporter) item(it *session.Item, sent bool) {
	if it.Turn > 0 {
		e.in = it.Turn
	}
	mark := ""
	if !sent {
		mark = " (not sent)"
	} else if it.Made != "" {
		mark = " (the client adds this)"
	}
	parts := Parts(it)
	text := Spoken(parts)
	switch it.Kind {
	case session.CallItem:
		e.folded("Call of "+oneLine(it.Tool)+mark, text, true)
	case session.OutputItem:
		e.folded("Output"+mark, e.clipped(text), true)
	case session.ReasoningItem:
		if strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "{") {
			e.folded("Thinking"+mark, text, false)
		}
	case session.ContextItem:
		e.folded("Context"+mark, e.clipped(text), true)
	case session.SummaryItem:
		e.folded("Summary of what came before"+mark, text, false)
	default:
		if text != "" || len(parts) > 0 {
			e.spoken(it.Role, mark, text)
		}
	}
	for _, p := range parts {
		e.image(p)
	}
}

// begin writes the heading of the turn, in front of the first thing of it that is shown.
func (e *exporter) begin() {
	if e.in != e.turn {
		e.turn, e.who = e.in, ""
		e.heading(fmt.Sprintf("Turn %d", e.in), "##")
	}
}

func (e *exporter) heading(text, sign string) {
	if e.opts.Plain {
		fmt.Fprintf(e.w, "\n== %s\n", text)
		return
	}
	fmt.Fprintf(e.w, "\n%s %s\n", sign, text)
}

// spoken writes what a person or the model said.
func (e *exporter) spoken(role, mark, text string) {
	if role == "" {
		role = "user"
	}
	e.begin()
	if who := role + mark; who != e.who {
		e.who = who
		e.heading(strings.ToUpper(role[:1])+role[1:]+mark, "###")
	}
	if text != "" {
		fmt.Fprintf(e.w, "\n%s\n", strings.TrimRight(text, "\n"))
	}
}

// folded writes what a reader opens only on demand.
func (e *exporter) folded(title, text string, code bool) {
	e.who = ""
	if text = strings.TrimRight(text, "\n"); text == "" && strings.HasPrefix(title, "Context") {
		return
	}
	e.begin()
	if e.opts.Plain {
		fmt.Fprintf(e.w, "\n-- %s\n%s\n", title, text)
		return
	}
	fmt.Fprintf(e.w, "\n<details><summary>%s</summary>\n\n", escaped.Replace(title))
	if code {
		fence := e.fence
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(e.w, "%s\n%s\n%s\n", fence, text, fence)
	} else {
		fmt.Fprintln(e.w, text)
	}
	fmt.Fprintln(e.w, "\n</details>")
}

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (e *exporter) clipped(text string) string {
	if limit := e.opts.MaxOutput; limit > 0 && len(text) > limit {
		return strings.ReplaceAll(middleOut(text, limit), "were taken out here", "are left out here")
	}
	return text
}

// image writes a link to an image.
func (e *exporter) image(p Part) {
	switch {
	case p.URL != "":
		e.begin()
		e.line("\nimage: " + oneLine(p.URL))
		return
	case p.Image == "":
		return
	}
	e.begin()
	e.images++
	data, err := base64.StdEncoding.DecodeString(p.Image)
	if err != nil || e.opts.Image == nil {
		e.line(fmt.Sprintf("\n[image %d: %s, %s]", e.images, oneLine(p.Type), Bytes(int64(len(p.Image))*3/4)))
		return
	}
	sum := sha256.Sum256(data)
	link, err := e.opts.Image(hex.EncodeToString(sum[:8])+extension(p.Type), data)
	if err != nil {
		e.err = err
		return
	}
	if e.opts.Plain {
		e.line("\nimage: " + link)
		return
	}
	e.line(fmt.Sprintf("\n![image %d](%s)", e.images, link))
}

// extension is a file's, by the type of what it holds.
func extension(typ string) string {
	switch typ {
	case "image/png", "image/gif", "image/webp":
		return "." + strings.TrimPrefix(typ, "image/")
	case "image/jpeg":
		return ".jpg"
	case "application/pdf":
		return ".pdf"
	}
	return ".bin"
}

// oneLine is a text without line ends and control characters.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || escape.Hidden(r) {
			return ' '
		}
		return r
	}, text)
}
