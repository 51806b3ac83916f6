package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/lint"
)

// What is printed where: results go to stdout, errors and progress to stderr. Text from a session reaches them only through printable
// or oneLine, and a terminal only through guarded, which lets no character pass that it would obey. Words of the conversation are
// shown only with --show-content.

// printable replaces characters that a terminal would obey; line breaks stay.
func printable(s string) string { return format.Printable(s) }

// oneLine is printable without line breaks.
func oneLine(s string) string { return format.OneLine(s) }

// styles are the colours in use; without colour, all of them are plain.
type styles struct {
	path, bold, dim, plain *color.Color
	impact                 map[lint.Impact]*color.Color
	added, removed         *color.Color
	marked                 *color.Color
	on                     bool
}

func newStyles(on bool) *styles {
	make := func(attrs ...color.Attribute) *color.Color {
		c := color.New(attrs...)
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return &styles{
		on: on, path: make(color.Bold), bold: make(color.Bold), dim: make(color.Faint), plain: make(),
		impact: map[lint.Impact]*color.Color{
			lint.Blocks: make(color.FgRed, color.Bold), lint.Rejects: make(color.FgMagenta), lint.Loses: make(color.FgYellow), lint.Shows: make(color.FgBlue), lint.Notes: make(color.FgCyan),
		},
		added: make(color.FgGreen), removed: make(color.FgRed), marked: make(color.Bold, color.Underline),
	}
}

// styled decides about colour for one stream, by --color, then NO_COLOR, CLICOLOR_FORCE and CLICOLOR, then whether the stream
// is a terminal.
func styled(c *cli.Context, w io.Writer) (*styles, error) {
	switch mode := c.String("color"); mode {
	case "always":
		return newStyles(true), nil
	case "never":
		return newStyles(false), nil
	case "auto":
	default:
		return nil, usage("--color is %q; it takes auto, always or never", mode)
	}
	switch {
	case os.Getenv("NO_COLOR") != "":
		return newStyles(false), nil
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return newStyles(true), nil
	case os.Getenv("CLICOLOR") == "0", os.Getenv("TERM") == "dumb":
		return newStyles(false), nil
	}
	return newStyles(isTerminal(w)), nil
}

// checkedOutput is a stream that remembers the first error of writing to it.
type checkedOutput struct {
	io.Writer
	failed error
}

func (o *checkedOutput) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// streamOf is the stream below a checkedOutput and a guardedTerminal, for code that needs a file.
func streamOf(w io.Writer) io.Writer {
	if o, ok := w.(*checkedOutput); ok {
		w = o.Writer
	}
	if t, ok := w.(*guardedTerminal); ok {
		w = t.file
	}
	return w
}

// guardedTerminal is a stream that is a terminal: what it would obey is replaced on the way there.
type guardedTerminal struct {
	io.Writer
	file *os.File
}

// guarded is a stream through which no terminal is told to do anything by a session.
func guarded(w io.Writer) io.Writer {
	if isTerminal(w) {
		f := w.(*os.File)
		return &guardedTerminal{escape.Terminal(f), f}
	}
	return w
}

func isTerminal(w io.Writer) bool {
	f, ok := streamOf(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Value: "auto", Usage: "colour the output: `WHEN` is auto, always or never (NO_COLOR and CLICOLOR are respected)"}
}

// sizeOf is how many columns and lines a terminal has; 0 if the stream is not a terminal.
func sizeOf(w io.Writer) (width, height int) {
	if f, ok := streamOf(w).(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd())) // an error means that it is not a terminal
	}
	return width, height
}

// widthOf is how many columns a terminal has; 0 if the stream is not a terminal.
func widthOf(w io.Writer) int {
	width, _ := sizeOf(w)
	return width
}

// folded breaks a line between words so that it fits a terminal of this width; what follows the first break is indented. A word
// that is longer than a line stays whole, so that a path can be copied. With width 0 the line stays as it is.
func folded(line string, width, indent int) string {
	if width < indent+20 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	at := 0
	for _, word := range wordForm.FindAllString(line, -1) {
		n := utf8.RuneCountInString(word)
		if bare := strings.TrimLeft(word, " "); at > indent && at+n > width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			word, at, n = bare, indent, utf8.RuneCountInString(bare)
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// wordForm is a word with the spaces before it.
var wordForm = regexp.MustCompile(` *[^ ]+`)

// atLine is a line's number, in front of what is said of it; "" if there is none.
func atLine(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", n)
}

// mapped is what f makes of each element of a list.
func mapped[T, R any](list []T, f func(T) R) []R {
	out := make([]R, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// count is a number with its noun.
func count[N int | int64](n N, one, many string) string {
	return fmt.Sprintf("%d %s", n, inNumber(n, one, many))
}

// inNumber is a word as it stands beside a number.
func inNumber[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// paged writes a text: on a terminal that is too low for it through $PAGER, or less, if that can be run.
func (e *env) paged(text []byte) error {
	pager := cmp.Or(os.Getenv("PAGER"), "less")
	_, height := sizeOf(e.out)
	if height == 0 || bytes.Count(text, []byte{'\n'}) < height || spoken() {
		_, err := e.out.Write(text)
		return err
	}
	path, err := exec.LookPath(pager)
	if err != nil {
		_, err = e.out.Write(text)
		return err
	}
	c := exec.Command(path)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), streamOf(e.out), streamOf(e.err)
	if c.Env = os.Environ(); os.Getenv("LESS") == "" {
		c.Env = append(c.Env, "LESS=FRX") // colours, and the text stays on the screen
	}
	return c.Run()
}

// idDigits is how much of an id is shown if there is little room; every command accepts it. The first eight digits encode the
// time to about a minute, so two threads of a day may share them.
const idDigits = 13

// short is the beginning of an id, for people to read and type.
func short(id string) string {
	if len(id) > idDigits {
		return id[:idDigits]
	}
	return id
}

// shortOf names a session in a word: by its id, or by its file if the id is not known.
func shortOf(id, path string) string {
	if id == "" {
		return oneLine(filepath.Base(path))
	}
	return strings.ToValidUTF8(short(oneLine(strings.ToLower(id))), "")
}
