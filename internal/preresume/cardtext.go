package preresume

import "strings"

// cutShort is the last line of a card that would be too long.
const cutShort = "(cut here; hist show has all)"

// Text returns the card for a terminal or a prompt, at most MaxCardLines lines and MaxCardBytes bytes.
func (c *Card) Text() string {
	return c.render("", "", "  ", func(s string) string { return strings.ReplaceAll(s, "`", "") })
}

// Markdown returns the card as Markdown, within the same limits.
func (c *Card) Markdown() string {
	return c.render("# ", "## ", "- ", func(s string) string { return s })
}

func (c *Card) render(title, section, item string, form func(string) string) string {
	lines := []string{title + form(c.Title)}
	for _, s := range c.Sections {
		lines = append(lines, section+s.Title)
		for _, l := range s.Lines {
			lines = append(lines, item+form(l))
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if i+1 < len(lines) && i+1 == MaxCardLines || b.Len()+len(l)+len(cutShort)+2 > MaxCardBytes {
			b.WriteString(cutShort + "\n")
			break
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}
