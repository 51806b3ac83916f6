package check

import "bytes"

// Clip shortens text that is shown in a message to what a person can take in, cut at n bytes.
func Clip(text []byte, n int) string {
	if len(text) <= n {
		return string(text)
	}
	return string(bytes.ToValidUTF8(text[:n], nil)) + "…"
}
