package cmd

import (
	"path/filepath"
	"strings"
)

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
