package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
)

// way is one in which a session is damaged at random. It gets the session's lines, with their newlines, and a line of them.
type way struct {
	name string
	do   func(rng *rand.Rand, lines [][]byte, i int) [][]byte
}

// lineBreaks damage lines, whatever they hold.
var lineBreaks = []way{
	{"drop", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Delete(l, i, i+1) }},
	{"glue", edit(func(_ *rand.Rand, l []byte) []byte { return bytes.TrimSuffix(l, newline) })},
	{"tear and glue", edit(func(rng *rand.Rand, l []byte) []byte { return l[:rng.Intn(len(l)+1)] })},
	{"tear", edit(func(rng *rand.Rand, l []byte) []byte { return append(bytes.Clone(l[:rng.Intn(len(l)+1)]), '\n') })},
	{"behead", edit(func(rng *rand.Rand, l []byte) []byte { return l[rng.Intn(len(l)+1):] })},
	{"cut off", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		l[i] = l[i][:rng.Intn(len(l[i])+1)]
		return l[:i+1]
	}},
	{"byte", insertion1(func(rng *rand.Rand) string { return string([]byte{byte(rng.Intn(256))}) })},
	{"newline", insertion1(func(*rand.Rand) string { return "\n" })},
	{"zeros", insertion1(func(rng *rand.Rand) string { return string(make([]byte, 1+rng.Intn(600))) })},
	{"surrogate", insertion1(func(rng *rand.Rand) string { return fmt.Sprintf(`\ud%x3d`, 8+rng.Intn(8)) })},
	{"control", insertion1(func(rng *rand.Rand) string { return string(rune(rng.Intn(32))) })},
	{"foreign", insertion1(func(*rand.Rand) string { return "\xe9" })},
	{"mark", insertion1(func(*rand.Rand) string { return "\ufeff" })},
	{"separator", insertion1(func(*rand.Rand) string { return "\u2028" })},
	{"lose bytes", edit(func(rng *rand.Rand, l []byte) []byte {
		from := rng.Intn(len(l) + 1)
		to := from + rng.Intn(len(l)-from+1)
		return append(bytes.Clone(l[:from]), l[to:]...)
	})},
	{"overwrite", edit(func(rng *rand.Rand, l []byte) []byte {
		l = bytes.Clone(l)
		for n := rng.Intn(8); n >= 0 && len(l) > 0; n-- {
			l[rng.Intn(len(l))] = byte(rng.Intn(256))
		}
		return l
	})},
	{"zero out", edit(func(rng *rand.Rand, l []byte) []byte {
		l = bytes.Clone(l)
		if from := rng.Intn(len(l) + 1); from < len(l) {
			clear(l[from : from+rng.Intn(len(l)-from)])
		}
		return l
	})},
	{"twice", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, l[i]) }},
	{"copy", func(rng *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, rng.Intn(len(l)), l[i]) }},
	{"swap", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		j := rng.Intn(len(l))
		l[i], l[j] = l[j], l[i]
		return l
	}},
	{"move", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		line := l[i]
		l = slices.Delete(l, i, i+1)
		return slices.Insert(l, rng.Intn(len(l)+1), line)
	}},
	{"garbage", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte("garbage\n")) }},
	{"scalar", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte("[17]\n")) }},
	{"blank", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte(" \t\n")) }},
	{"lay out", edit(func(_ *rand.Rand, l []byte) []byte { return laidOut(l) })},
	{"lay all out", func(_ *rand.Rand, l [][]byte, i int) [][]byte {
		text := bytes.Clone(bytes.Join(l[:i], nil))
		for _, line := range l[i:] {
			text = append(text, laidOut(line)...)
		}
		return bytes.SplitAfter(text, newline)
	}},
	{"interleave", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		if i+1 == len(l) {
			return l
		}
		n := rng.Intn(len(l[i]) + 1)
		mixed := slices.Concat(l[i][:n], l[i+1], l[i][n:])
		return slices.Replace(l, i, i+2, bytes.SplitAfter(mixed, newline)...)
	}},
}

// rolloutBreaks are those, and others that damage the records of Codex.
var rolloutBreaks = append(slices.Clip(lineBreaks), []way{
	{"kind", replace(`_call_output"`, `_call"`)},
	{"other kind", replace(`"function_call`, `"custom_tool_call`)},
	{"ordinal", replace(`"ordinal":`, `"ordinal":1`)},
	{"ordinal as text", replace(`"ordinal":`, `"ordinal":"8","x":`)},
	{"no ordinal", replace(`"ordinal":`, `"cardinal":`)},
	{"header", replace(`"response_item"`, `"session_meta"`)},
	{"no header", replace(`"session_meta"`, `"session_beta"`)},
	{"version", replace(`"cli_version":"`, `"cli_version":7,"x":"`)},
	{"key twice", replace(`"payload":{`, `"payload":{"type":"x",`)},
	{"arguments", replace(`"arguments":"`, `"arguments":{},"x":"`)},
	{"crlf", replace("\n", "\r\n")},
}...)

// laidOut is a record as jq prints it, and what is none as it is.
func laidOut(line []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, line, "", "  ") != nil {
		return line
	}
	return b.Bytes()
}

func edit(do func(*rand.Rand, []byte) []byte) func(*rand.Rand, [][]byte, int) [][]byte {
	return func(rng *rand.Rand, lines [][]byte, i int) [][]byte {
		lines[i] = do(rng, lines[i])
		return lines
	}
}

func insertion1(what func(*rand.Rand) string) func(*rand.Rand, [][]byte, int) [][]byte {
	return edit(func(rng *rand.Rand, l []byte) []byte {
		at := rng.Intn(len(l) + 1)
		return slices.Concat(l[:at], []byte(what(rng)), l[at:])
	})
}

func replace(old, with string) func(*rand.Rand, [][]byte, int) [][]byte {
	return edit(func(_ *rand.Rand, l []byte) []byte { return bytes.Replace(l, []byte(old), []byte(with), 1) })
}

// break1 damages a session in one random way and says which.
func break1(rng *rand.Rand, text []byte, ways []way) ([]byte, string) {
	lines := bytes.SplitAfter(text, newline)
	b := ways[rng.Intn(len(ways))]
	i := rng.Intn(len(lines))
	return bytes.Join(b.do(rng, lines, i), nil), fmt.Sprintf("%s at line %d", b.name, i+1)
}
