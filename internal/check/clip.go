package check

import "bytes"

// Clip shortens a text for a message to n bytes, with an ellipsis behind them.
func Clip(text []byte, n int) string {
	if len(text) <= n {
		return string(text)
	}
	return string(bytes.ToValidUTF8(text[:n], nil)) + "…"
}
