package clienttest

import (
	"bytes"
	"slices"
)

// Damage breaks a session in one way. It returns the file's bytes, nil if the session has nothing to break so.
type Damage struct {
	Name string
	Do   func(s Session) []byte
}

// Damages are the ways of claude-behaviour's matrix: each breaks a clean session in one way.
func Damages() []Damage {
	return slices.Concat(lostDamages(), treeDamages(), fieldDamages(), orderDamages(), framingDamages(), contentDamages())
}

// one does something to one line.
func one(place func(Session) int, do func(l []byte) []byte) func(Session) []byte {
	return func(s Session) []byte {
		i := place(s)
		if i < 0 {
			return nil
		}
		l := do(bytes.Clone(s[i]))
		if l == nil {
			return s.without(i).Bytes()
		}
		return s.with(i, l).Bytes()
	}
}

func lose(place func(Session) int) func(Session) []byte {
	return one(place, func([]byte) []byte { return nil })
}

func setField(parent, key, value string) func([]byte) []byte {
	return func(l []byte) []byte { return Set(l, parent, key, value) }
}

func content(value string) func([]byte) []byte { return setField("message", "content", value) }

// insertBehind puts a line behind the place.
func insertBehind(place func(Session) int, line string) func(Session) []byte {
	return func(s Session) []byte {
		i := place(s)
		if i < 0 {
			return nil
		}
		return slices.Insert(slices.Clone(s), i+1, []byte(line)).Bytes()
	}
}

// at makes another session of one, given the place; nil if the session has no such place.
func at(place func(Session) int, do func(s Session, i int) []byte) func(Session) []byte {
	return func(s Session) []byte {
		i := place(s)
		if i < 0 {
			return nil
		}
		return do(s, i)
	}
}

// each does something to every line.
func each(do func(l []byte) []byte) func(Session) []byte {
	return func(s Session) []byte {
		out := make(Session, len(s))
		for i, l := range s {
			out[i] = do(l)
		}
		return out.Bytes()
	}
}

// only keeps the lines that a test accepts.
func only(ok func(l []byte) bool) func(Session) []byte {
	return func(s Session) []byte {
		return slices.DeleteFunc(slices.Clone(s), func(l []byte) bool { return !ok(l) }).Bytes()
	}
}

// twice writes the line at the place again behind itself.
func twice(place func(Session) int) func(Session) []byte {
	return at(place, func(s Session, i int) []byte { return slices.Insert(slices.Clone(s), i+1, s[i]).Bytes() })
}

// replaceText replaces the first old text in what a message holds.
func replaceText(old, replacement string) func([]byte) []byte {
	return func(l []byte) []byte {
		from := bytes.Index(l, []byte(`"content":`))
		return append(bytes.Clone(l[:from]), bytes.Replace(l[from:], []byte(old), []byte(replacement), 1)...)
	}
}

// dropField takes a member out.
func dropField(parent, key string) func([]byte) []byte {
	return func(l []byte) []byte { return drop(l, parent, key) }
}

const otherID = "99999999-9999-4999-8999-999999999999"
