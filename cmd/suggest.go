package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"
)

// nearest returns the one of the names that was most likely meant, "" if none is near: the only one that begins with the
// word, or the one with the fewest wrong letters, which may be a third of it.
func nearest(word string, names []string) string {
	begun := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, strings.ToLower(word)) })
	if len(begun) == 1 && word != "" {
		return begun[0]
	}
	best, distance := "", len(word)/3+1
	for _, name := range names {
		d := smetrics.WagnerFischer(strings.ToLower(word), name, 1, 1, 1)
		if transposed(word, name) {
			d = 1 // two letters the wrong way round are one slip
		}
		if d < distance || d == distance && best == "" {
			best, distance = name, d
		}
	}
	return best
}

// transposed says whether two neighbouring letters make all the difference.
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

// meant is a question behind a word that is not known, with the nearest of the names that are; "" if none is near.
func meant(word string, names []string) string {
	if best := nearest(word, names); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// meantOr is meant, or else another hint.
func meantOr(word string, names []string, otherwise string) string {
	if hint := meant(word, names); hint != "" {
		return hint
	}
	return otherwise
}

// itTakes names all of a few words that are known.
func itTakes(names []string) string { return "; it takes " + strings.Join(names, ", ") }

func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// longNames are the names of flags that are words.
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
