package clienttest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Tools that work on lines, and programs that put a session into something else.

func joined(s Session, sep string) []byte { return append(bytes.Join(s, []byte(sep)), '\n') }

func lineToolDamages() []Damage {
	prefix := func(with func(i int) string) func(Session) []byte {
		return func(s Session) []byte {
			out := make(Session, len(s))
			for i, l := range s {
				out[i] = append([]byte(with(i)), l...)
			}
			return out.Bytes()
		}
	}
	return []Damage{
		{"sorted", func(s Session) []byte {
			out := slices.Clone(s)
			slices.SortFunc(out, bytes.Compare)
			return out.Bytes()
		}},
		{"conflict_theirs_more", conflict(func(s Session, i int) (ours, theirs Session) { return s[i : i+2], s[i:] })},
		{"conflict_two_turns", conflict(func(s Session, i int) (ours, theirs Session) {
			p, a := branch(s[i-1], 10*time.Minute, "7")
			return s[i:], Session{p, a}
		})},
		{"conflict_reformatted", conflict(func(s Session, i int) (ours, theirs Session) {
			for _, l := range s[i:] {
				theirs = append(theirs, bytes.Replace(l, []byte(`,"`), []byte(`, "`), 1))
			}
			return s[i:], theirs
		})},
		{"line_numbers", prefix(func(i int) string { return fmt.Sprintf("%6d\t", i+1) })},
		{"diff_prefix", prefix(func(int) string { return "+" })},
		{"log_prefix", prefix(func(int) string { return "2026-11-20T10:00:00Z INFO " })},
		{"array_of_lines", func(s Session) []byte { return []byte("[\n" + string(bytes.Join(s, []byte(",\n"))) + "\n]\n") }},
		{"array_in_one", func(s Session) []byte { return []byte("[" + string(bytes.Join(s, []byte(","))) + "]\n") }},
		{"trailing_commas", func(s Session) []byte { return joined(s, ",\n") }},
		{"carriage_returns", func(s Session) []byte { return joined(s, "\r") }},
		{"no_newlines", func(s Session) []byte { return joined(s, "") }},
		{"record_separators", func(s Session) []byte { return append([]byte("\x1e"), joined(s, "\n\x1e")...) }},
		{"wrapped_1000", func(s Session) []byte { return wrapped(s, 1000) }},
		{"cut_2000", func(s Session) []byte { return cutTo(s, 2000) }},
		{"boms", prefix(func(int) string { return "\ufeff" })},
		{"own_fork_behind", func(s Session) []byte {
			p, a := branch(s[s.lastText()], 10*time.Minute, "8")
			fork := each(setField("", "sessionId", `"`+otherID+`"`))
			return append(s.Bytes(), fork(append(slices.DeleteFunc(slices.Clone(s), func(l []byte) bool { return !inTree(l) }), p, a))...)
		}},
		{"reversed", func(s Session) []byte { return reversed(s).Bytes() }},
		{"reversed_twice", func(s Session) []byte { return slices.Concat(reversed(s), reversed(s)).Bytes() }},
		{"reversed_behind", func(s Session) []byte { return slices.Concat(s, reversed(s)).Bytes() }},
		{"reversed_in_front", func(s Session) []byte { return slices.Concat(reversed(s), s).Bytes() }},
		{"older_fork_behind", func(s Session) []byte {
			i := s.endOfTurn()
			p, a := branch(s[i], 10*time.Minute, "8")
			fork := each(setField("", "sessionId", `"`+otherID+`"`))
			return append(s.Bytes(), fork(append(slices.DeleteFunc(slices.Clone(s[:i+1]), func(l []byte) bool { return !inTree(l) }), p, a))...)
		}},
	}
}

func reversed(s Session) Session {
	out := slices.Clone(s)
	slices.Reverse(out)
	return out
}

// wrapperDamages are what a program makes of a session that exports or sends it as something else.
func wrapperDamages() []Damage {
	wrap := func(before, sep, after string) func(Session) []byte {
		return func(s Session) []byte { return []byte(before + string(bytes.Join(s, []byte(sep))) + after) }
	}
	quoted := each(func(l []byte) []byte {
		out, _ := json.Marshal(string(l))
		return out
	})
	return []Damage{
		{"object_of_lines", wrap(`{"messages":[`, ",", "]}\n")},
		{"object_with_head", wrap(`{"version":1,"exportedAt":"2026-11-20T10:00:00.000Z","records":[`+"\n", ",\n", "\n]}\n")},
		{"objects_around_lines", each(func(l []byte) []byte { return slices.Concat([]byte(`{"line":`), l, []byte("}")) })},
		{"array_indented", func(s Session) []byte {
			var out bytes.Buffer
			_ = json.Indent(&out, []byte("["+string(bytes.Join(s, []byte(",")))+"]"), "", "  ")
			return out.Bytes()
		}},
		{"lines_as_strings", quoted},
		{"array_of_strings", func(s Session) []byte {
			return []byte("[" + strings.ReplaceAll(strings.TrimRight(string(quoted(s)), "\n"), "\n", ",") + "]\n")
		}},
		{"csv_quoted", each(func(l []byte) []byte { return []byte(`"` + strings.ReplaceAll(string(l), `"`, `""`) + `"`) })},
		{"base64", func(s Session) []byte { return []byte(base64.StdEncoding.EncodeToString(s.Bytes()) + "\n") }},
		{"base64_lines", each(func(l []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(l)) })},
	}
}

func conflict(sides func(s Session, i int) (ours, theirs Session)) func(Session) []byte {
	return func(s Session) []byte {
		i := s.second()
		if i < 0 {
			return nil
		}
		ours, theirs := sides(s, i)
		out := slices.Concat(s[:i], Session{[]byte("<<<<<<< HEAD")}, ours, Session{[]byte("=======")}, theirs, Session{[]byte(">>>>>>> 1f2e3d4 (backup)")})
		return out.Bytes()
	}
}

func wrapped(s Session, at int) []byte {
	var out Session
	for _, l := range s {
		for ; len(l) > at; l = l[at:] {
			out = append(out, l[:at])
		}
		out = append(out, l)
	}
	return out.Bytes()
}

func cutTo(s Session, n int) []byte {
	return each(func(l []byte) []byte { return l[:min(n, len(l))] })(s)
}
