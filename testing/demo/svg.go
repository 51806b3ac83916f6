package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// Measures in pixels, and how long it takes until a command and a line of its output appear, in seconds.
const (
	lineHeight, charWidth, margin = 19, 8.4, 16
	firstPause                    = 2
	perCommand, perLine           = 5.5, 0.06
)

const style = `<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5;white-space:pre}
.l{opacity:0;animation:a .01s linear forwards}
@keyframes a{to{opacity:1}}
@media (prefers-reduced-motion:reduce){.l{animation:none;opacity:1}}
.p{fill:#7ee787}.b{font-weight:700}.d{fill:#8b96a5}.c31{fill:#ff7b72}.c32{fill:#7ee787}.c33{fill:#e3b341}.c34{fill:#79c0ff}.c35{fill:#d2a8ff}.c36{fill:#76e3ea}
</style>`

// draw makes the picture: the lines appear one after the other, a command after a pause.
func draw(lines []string) string {
	var b strings.Builder
	width, height := float64(columns)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="hist finds what a killed client left broken, repairs it, and the client carries on">`+"\n%s\n", width, height, style)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n")
	at := 0.0
	for i, line := range lines {
		if i == 0 { // the first frame is not blank
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+14, spans(line))
			at = firstPause
			continue
		}
		if strings.HasPrefix(line, "$ ") {
			at += perCommand
		} else {
			at += perLine
		}
		fmt.Fprintf(&b, `<text class="l" style="animation-delay:%.2fs" x="%d" y="%d">%s</text>`+"\n", at, margin, margin+14+i*lineHeight, spans(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// plain is a text without colours.
func plain(s string) string { return escape.ReplaceAllString(s, "") }

// folded breaks lines where a terminal would.
func folded(screen []string) []string {
	var out []string
	for _, line := range screen {
		if len([]rune(plain(line))) > columns {
			line = plain(line)
		}
		for len([]rune(line)) > columns && plain(line) == line {
			out = append(out, string([]rune(line)[:columns]))
			line = string([]rune(line)[columns:])
		}
		out = append(out, line)
	}
	return out
}

// spans is a line with its colours as classes.
func spans(line string) string {
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		return `<tspan class="p">$</tspan> <tspan class="b">` + html.EscapeString(command) + `</tspan>`
	}
	var b strings.Builder
	classes := map[string]bool{}
	write := func(text string) {
		if text == "" {
			return
		}
		var names []string
		for _, name := range []string{"b", "d", "c31", "c32", "c33", "c34", "c35", "c36"} {
			if classes[name] {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			b.WriteString(html.EscapeString(text))
			return
		}
		fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, strings.Join(names, " "), html.EscapeString(text))
	}
	rest := line
	for {
		m := escape.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		write(rest[:m[0]])
		for _, code := range strings.Split(rest[m[2]:m[3]], ";") {
			switch code {
			case "", "0":
				clear(classes)
			case "1":
				classes["b"] = true
			case "2":
				classes["d"] = true
			case "22":
				classes["b"], classes["d"] = false, false
			case "39":
				for c := range classes {
					if strings.HasPrefix(c, "c") {
						classes[c] = false
					}
				}
			default:
				classes["c"+code] = true
			}
		}
		rest = rest[m[1]:]
	}
	write(rest)
	return b.String()
}
