package cmd

import (
	"path/filepath"
	"strings"
)

// idDigits is how much of an id is shown where there is little room; every command takes it. The first eight digits tell
// when a thread was begun, to the minute: two of a day may share them.
const idDigits = 13

// short is the beginning of an id that a person reads and types.
func short(id string) string {
	if len(id) > idDigits {
		return id[:idDigits]
	}
	return id
}

// shortOf names a session in a word: by its id, or by its file where that is not known.
func shortOf(id, path string) string {
	if id == "" {
		return oneLine(filepath.Base(path))
	}
	return short(strings.ToLower(id))
}
