package jsonl

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote decodes a JSON string literal with its quotes. A surrogate escape
// without its other half and a byte that is no UTF-8 become U+FFFD. It is false
// if the bytes are no string literal.
func Unquote(quoted []byte) (string, bool) {
	if n := len(quoted); n > 1 && quoted[0] == '"' && quoted[n-1] == '"' && plain(quoted[1:n-1]) {
		return string(quoted[1 : n-1]), true
	}
	decoded, ok := AppendUnquoted(nil, quoted)
	if !ok {
		return "", false
	}
	return string(decoded), true
}

// AppendUnquoted appends to dst what Unquote returns. If it is false, what was
// appended means nothing.
func AppendUnquoted(dst, quoted []byte) ([]byte, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return dst, false
	}
	body := quoted[1 : n-1]
	dst = slices.Grow(dst, n+8)
	start := len(dst)
	dst, done := appendSimple(dst, body)
	if badUTF8(dst[start:]) >= 0 {
		dst, done = dst[:start], 0
	}
	return appendDecoded(dst, body[done:], replaceBad)
}

// appendSimple decodes text whose escapes have two bytes, eight bytes at a time,
// as far as it goes; done is how much of body that is. Bytes that are no UTF-8
// are copied. dst has room for body and eight bytes more.
func appendSimple(dst, body []byte) (out []byte, done int) {
	o, i := len(dst), 0
	out = dst[:cap(dst)]
	for i+8 <= len(body) {
		w := load(body, i)
		store(out, o, w)
		m := stops(w)
		if m == 0 {
			o += 8
			i += 8
			continue
		}
		n := first(m)
		o += n
		i += n
		if body[i] != '\\' || i+1 == len(body) || !simple[body[i+1]] {
			break
		}
		out[o] = escapes[body[i+1]]
		o++
		i += 2
	}
	return out[:o], i
}

// plain tells whether the inside of a literal stands for itself.
func plain(body []byte) bool {
	high := false
	for i := run(body, 0); i < len(body); i = run(body, i+1) {
		if body[i] < utf8.RuneSelf {
			return false
		}
		high = true
	}
	return !high || utf8.Valid(body)
}

// run returns the position from i on of the first byte that is not printable
// ASCII standing for itself in a literal.
func run(body []byte, i int) int {
	for ; i+8 <= len(body); i += 8 {
		w := load(body, i)
		if m := stops(w) | w&highs; m != 0 {
			return i + first(m)
		}
	}
	for i < len(body) {
		if c := body[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
		i++
	}
	return i
}

// What to do with what is no Unicode text.
const (
	replaceBad = iota // write U+FFFD, refuse control characters
	keepAll           // keep bytes, write lone surrogates as three bytes, so that different keys stay different
)

// appendDecoded decodes the inside of a string literal.
func appendDecoded(dst, body []byte, mode int) ([]byte, bool) {
	for i := 0; ; {
		end := run(body, i)
		dst = append(dst, body[i:end]...)
		if i = end; i == len(body) {
			return dst, true
		}
		switch c := body[i]; {
		case c == '\\':
			r, size := unescape(body, i)
			if size == 0 {
				return dst, false
			}
			i += size
			if mode == keepAll && utf16.IsSurrogate(r) {
				dst = append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
		case c == '"' || c < ' ' && mode == replaceBad:
			return dst, false
		case mode == keepAll:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(body[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
}

// unescape decodes the escape at i; a surrogate pair is one. size is its length
// in bytes, 0 if it is no escape. r may be a surrogate.
func unescape(body []byte, i int) (r rune, size int) {
	if i+1 >= len(body) {
		return 0, 0
	}
	c := escapes[body[i+1]]
	if c == 0 {
		return 0, 0
	}
	if c != 'u' {
		return rune(c), 2
	}
	r, ok := escapeAt(body, i)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := escapeAt(body, i+6); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

// AppendQuote appends s as a JSON string literal. Only '"', '\\' and control
// characters are escaped, with short escapes where JSON has them; bytes that are
// no UTF-8 become U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0 // s[:done] is written
	for i := 0; i < len(s); {
		c := s[i]
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		} else if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[done:i]...)
		switch k := strings.IndexByte("\b\f\n\r\t\"\\", c); {
		case c >= utf8.RuneSelf:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case k >= 0:
			dst = append(dst, '\\', `bfnrt"\`[k])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i += size
		done = i
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}
