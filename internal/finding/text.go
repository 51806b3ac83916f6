package finding

import (
	"fmt"
	"io/fs"
	"strings"
)

// Texts are the Markdown files that say what rules mean. Each rule has one, texts/NAME.md, with the rule's title as its
// heading and the text below. The packages that have rules embed them.
type Texts struct{ Files fs.FS }

// Rule adds to a rule its title and text. If the text is missing or has another form it panics and names the file: that is
// a fault of the program, and every start shows it.
func (t Texts) Rule(r Rule) *Rule {
	path := "texts/" + r.Name + ".md"
	page, err := fs.ReadFile(t.Files, path)
	if err != nil {
		panic(fmt.Sprintf("the rule %s has no text: %v", r.Name, err))
	}
	title, text, ok := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "\n\n")
	r.Title, r.Text = strings.TrimPrefix(title, "# "), unfold(text)
	if !ok || r.Title == title || r.Title == "" || r.Text == "" {
		panic(fmt.Sprintf("%s: want a line \"# title\", an empty line, and the text", path))
	}
	return &r
}

// Effect says what an agent does with damage by a rule that it shares with other agents: the text of effects/NAME.md, ""
// if there is none.
func (t Texts) Effect(r *Rule) string {
	page, err := fs.ReadFile(t.Files, "effects/"+r.Name+".md")
	if err != nil {
		return ""
	}
	return unfold(strings.ReplaceAll(string(page), "\r\n", "\n"))
}

// unfold joins the lines of each paragraph.
func unfold(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
