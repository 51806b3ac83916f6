// Package text has the functions of package strings that the shim needs. Package strings imports Unicode's tables, and Go
// would initialise half of hist's packages before those, for which a process that is about to become the client has no
// time. In and out: strings. Never here: anything that package strings does not do, or any import.
package text

// HasPrefix is strings.HasPrefix.
func HasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// CutPrefix is strings.CutPrefix.
func CutPrefix(s, prefix string) (after string, found bool) {
	if !HasPrefix(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// TrimPrefix is strings.TrimPrefix.
func TrimPrefix(s, prefix string) string {
	s, _ = CutPrefix(s, prefix)
	return s
}

// TrimSuffix is strings.TrimSuffix.
func TrimSuffix(s, suffix string) string {
	if n := len(s) - len(suffix); n >= 0 && s[n:] == suffix {
		return s[:n]
	}
	return s
}

// EqualFold is strings.EqualFold for ASCII.
func EqualFold(s, t string) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range len(s) {
		if lower(s[i]) != lower(t[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Cut is strings.Cut with a separator of one byte.
func Cut(s string, sep byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// Split is strings.Split with a separator of one byte.
func Split(s string, sep byte) (parts []string) {
	for found := true; found; {
		var part string
		part, s, found = Cut(s, sep)
		parts = append(parts, part)
	}
	return parts
}

// Base returns what follows the last separator of a path; each of the given bytes is a separator.
func Base(path string, separators ...byte) string {
	for i := len(path) - 1; i >= 0; i-- {
		for _, s := range separators {
			if path[i] == s {
				return path[i+1:]
			}
		}
	}
	return path
}

// Itoa is strconv.Itoa for n >= 0.
func Itoa(n int) string {
	digits := ""
	for ; n > 9; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return string(rune('0'+n)) + digits
}
