package finding

import (
	"testing"
	"testing/fstest"
)

// TestTexts: a rule takes its title and text from its page, and a page that is missing or has another form is told at once.
func TestTexts(t *testing.T) {
	texts := Texts{fstest.MapFS{
		"texts/good.md":     {Data: []byte("# what is wrong\n\nOne line\nand another.\n\nA paragraph.\n")},
		"texts/windows.md":  {Data: []byte("# what is wrong\r\n\r\nOne line\r\nand another.\r\n")},
		"texts/no-title.md": {Data: []byte("what is wrong\n\nText.\n")},
		"texts/no-text.md":  {Data: []byte("# what is wrong\n")},
	}}
	if r := texts.Rule(Rule{Name: "good", Fix: Exact}); r.Title != "what is wrong" || r.Text != "One line and another.\n\nA paragraph." || r.Fix != Exact {
		t.Errorf("got %+v", r)
	}
	if r := texts.Rule(Rule{Name: "windows"}); r.Title != "what is wrong" || r.Text != "One line and another." {
		t.Errorf("got %+v", r)
	}
	for _, name := range []string{"no-title", "no-text", "no-page"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: taken", name)
				}
			}()
			texts.Rule(Rule{Name: name})
		}()
	}
}
