package front

// These are the functions of package strings that the shim needs. Package strings imports Unicode's tables, and Go would initialise half
// of hist's packages before those, for which a process that is about to become the client has no time.

// hasPrefix is strings.HasPrefix.
func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// cutPrefix is strings.CutPrefix.
func cutPrefix(s, prefix string) (after string, found bool) {
	if !hasPrefix(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// trimPrefix is strings.TrimPrefix.
func trimPrefix(s, prefix string) string {
	s, _ = cutPrefix(s, prefix)
	return s
}

// trimSuffix is strings.TrimSuffix.
func trimSuffix(s, suffix string) string {
	if n := len(s) - len(suffix); n >= 0 && s[n:] == suffix {
		return s[:n]
	}
	return s
}

// equalFold is strings.EqualFold for ASCII.
func equalFold(s, t string) bool {
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

// cut is strings.Cut with a separator of one byte.
func cut(s string, sep byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// split is strings.Split with a separator of one byte.
func split(s string, sep byte) (parts []string) {
	for found := true; found; {
		var part string
		part, s, found = cut(s, sep)
		parts = append(parts, part)
	}
	return parts
}

// lastPart returns what follows the last separator of a path; each of the given bytes is a separator.
func lastPart(path string, separators ...byte) string {
	for i := len(path) - 1; i >= 0; i-- {
		for _, s := range separators {
			if path[i] == s {
				return path[i+1:]
			}
		}
	}
	return path
}

// itoa is strconv.Itoa for n >= 0.
func itoa(n int) string {
	digits := ""
	for ; n > 9; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return string(rune('0'+n)) + digits
}
