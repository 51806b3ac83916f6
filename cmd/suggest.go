package cmd

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"github.com/hist-cli/hist/internal/format"
)

// nearest returns the name that was most likely meant, "" if none is near: the only one that begins with the word, or the one
// with the fewest wrong letters, if these are at most a third.
func nearest(word string, names []string) string {
	begun := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, strings.ToLower(word)) })
	if len(begun) == 1 && word != "" {
		return begun[0]
	}
	best, distance := "", len(word)/3+1
	for _, name := range names {
		d := smetrics.WagnerFischer(strings.ToLower(word), name, 1, 1, 1)
		if transposed(word, name) {
			d = 1 // two swapped letters are one mistake
		}
		if d < distance || d == distance && best == "" {
			best, distance = name, d
		}
	}
	return best
}

// transposed says whether two words differ only in two neighbouring letters that are swapped.
func transposed(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// meant asks, after an unknown word, whether the nearest of the names was meant; "" if none is near.
func meant(word string, names []string) string {
	if best := nearest(word, names); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// meantOr is meant or, if that is empty, another hint.
func meantOr(word string, names []string, otherwise string) string {
	if hint := meant(word, names); hint != "" {
		return hint
	}
	return otherwise
}

// longNames are the names of flags that are longer than a letter.
func longNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, name)
			}
		}
	}
	return names
}

// otherWords are what people type for a command that has another name, with the line that does what they want.
var otherWords = map[string]string{
	"fix": "hist repair", "mend": "hist repair", "heal": "hist repair", "recover": "hist repair",
	"check": "hist lint", "scan": "hist lint", "validate": "hist lint", "verify": "hist lint",
	"status": "hist doctor", "health": "hist doctor", "diagnose": "hist doctor",
	"search": "hist list", "find": "hist list", "grep": "hist list", "ls": "hist list", "sessions": "hist list",
	"continue": "hist resume --last", "open": "hist resume", "start": "hist resume",
	"cat": "hist show", "view": "hist show", "log": "hist show", "print": "hist show",
	"revert": "hist undo", "restore": "hist undo", "history": "hist runs", "rules": "hist explain", "why": "hist explain",
}

// idForm is the beginning of a session's id.
var idForm = regexp.MustCompile(`^[0-9a-fA-F]{8}[0-9a-fA-F-]*$`)

// commandMeant says which command was most likely meant by a word that is none.
func commandMeant(word string, app *cli.App) string {
	if line, ok := otherWords[strings.ToLower(word)]; ok {
		return fmt.Sprintf("; what you want is likely: %s", line)
	}
	if _, err := os.Lstat(word); err == nil || idForm.MatchString(word) {
		return fmt.Sprintf("; hist lint %[1]s says what is wrong with it, hist repair %[1]s mends it", format.Command(operandOf(word)))
	}
	names := mapped(app.Commands, func(c *cli.Command) string { return c.Name })
	return meantOr(word, names, "; hist --help lists them")
}
