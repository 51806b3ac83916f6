package format

import (
	"time"

	"github.com/hist-cli/hist/internal/session"
)

// TimeForm is the layout of a client's times.
const TimeForm = "2006-01-02T15:04:05.000Z"

// MillisOf reads a record's time, in milliseconds since 1970; 0 if it is not a time.
func MillisOf(text []byte) int64 {
	if t, ok := session.ReadTime(TimeForm, text); ok {
		return t.UnixMilli()
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// Clock reads the times of records one after the other: most are in the same minute as the one before.
type Clock struct {
	minute [len("2006-01-02T15:04:")]byte
	begins int64 // of the minute, in milliseconds since 1970
}

// Millis is MillisOf.
func (c *Clock) Millis(text []byte) int64 {
	const form = "00.000Z"
	if len(text) != len(c.minute)+len(form) || string(text[:len(c.minute)]) != string(c.minute[:]) {
		when := MillisOf(text)
		if t := text; len(t) == len(TimeForm) && when > 0 && t[len(t)-1] == 'Z' {
			copy(c.minute[:], t)
			c.begins = when - when%60_000
		}
		return when
	}
	within := int64(0)
	for i, digit := range text[len(c.minute):] {
		switch {
		case form[i] != '0':
			if digit != form[i] {
				return MillisOf(text)
			}
		case digit < '0' || digit > '9':
			return MillisOf(text)
		default:
			within = within*10 + int64(digit-'0')
		}
	}
	if within >= 60_000 {
		return MillisOf(text)
	}
	return c.begins + within
}
