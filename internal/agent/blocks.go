package agent

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// TimeIn reads a record's time as it is written; the zero time if it is none.
func TimeIn(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// TextIn is the words of a content that is a text or a list of blocks, one block per line: of the blocks of the given types, which have their
// words in a member of the same name.
func TextIn(content gjson.Result, types ...string) string {
	if content.Type == gjson.String {
		return content.String()
	}
	var parts []string
	content.ForEach(func(_, b gjson.Result) bool {
		for _, t := range types {
			if words := b.Get(t).String(); b.Get("type").String() == t && words != "" {
				parts = append(parts, words)
			}
		}
		return true
	})
	return strings.Join(parts, "\n")
}

// ImagesIn counts the images in a list of blocks.
func ImagesIn(content gjson.Result) (n int) {
	content.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == "image" {
			n++
		}
		return true
	})
	return n
}

// MainOf is what a tool was given: the first of these members that is a text, or else all of it.
func MainOf(input gjson.Result, members ...string) string {
	for _, key := range members {
		if v := input.Get(key); v.Type == gjson.String {
			return v.String()
		}
	}
	return input.Raw
}

// Sign is words in lower case by which an error's class is told.
type Sign struct {
	Class session.Class
	Words []string
}

// ClassBy sorts an error by the first sign of which it has a word.
func ClassBy(signs []Sign, name, message string) session.Class {
	all := strings.ToLower(name + " " + message)
	for _, s := range signs {
		for _, w := range s.Words {
			if strings.Contains(all, w) {
				return s.Class
			}
		}
	}
	return session.Unknown
}
