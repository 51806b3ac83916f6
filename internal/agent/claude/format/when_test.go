package format

import (
	"testing"
	"time"
)

// What is read of a time as clients write it is what time.Parse reads, and nothing else is taken for one.
func TestMillis(t *testing.T) {
	for _, text := range []string{
		"2026-11-22T17:23:37.123Z", "2024-02-29T00:00:00.000Z", "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00.001Z",
		"2026-11-22T17:23:37Z", "2026-11-22T17:23:37.123456Z", "2026-11-22T18:23:37.123+01:00",
		"", "now", "2026-02-29T00:00:00.000Z", "2026-04-31T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-00-10T00:00:00.000Z",
		"2026-01-00T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T23:60:00.000Z", "2026-01-01T23:59:60.000Z", "2026-01-01 23:59:59.000Z",
		"2026-01-01T23:59:5x.000Z", "2026-01-01T23:59:59.000z",
	} {
		want := int64(0)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			want = at.UnixMilli()
		}
		if got := MillisOf([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestClock reads times one after the other as each alone is read.
func TestClock(t *testing.T) {
	var c Clock
	for _, text := range []string{
		"2026-11-21T22:04:01.137Z", "2026-11-21T22:04:59.999Z", "2026-11-21T22:04:60.000Z", "2026-11-21T22:05:00.000Z", "2026-11-21T22:05:0a.000Z",
		"2026-11-21T22:05:00,000Z", "2026-11-21T22:05:00.0000", "2026-11-21T22:05:00Z", "2026-11-21T22:05:00+01:00", "", "1969-12-31T23:59:01.500Z", "1969-12-31T23:59:02.500Z",
		"2026-02-30T00:00:00.000Z", "2026-02-30T00:00:01.000Z", "0000-00-00T00:00:00.000Z",
	} {
		if got, want := c.Millis([]byte(text)), MillisOf([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
