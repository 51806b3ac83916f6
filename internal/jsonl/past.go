package jsonl

// PastString returns where the string that begins at i is over, behind its closing
// quote, in text that Scan has found to be sound. In other text it may return any
// place up to the end.
func PastString(text []byte, i int) int {
	i++
	for wide && i+64 <= len(text) {
		blocks := min((len(text)-i)/64, maxWide)
		at, _ := passText(&text[i], blocks)
		if i += at; at == 64*blocks {
			continue
		}
		switch text[i] {
		case '"':
			return i + 1
		case '\\': // of an escape whose digits are passed like others
			i++
		}
		i++
	}
	for i < len(text) {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
	return len(text)
}
