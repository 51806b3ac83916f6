package session

import "time"

// ReadTime reads a time in UTC of one fixed form, such as are in every record and in every session's name: time.Parse takes three
// times as long, and also accepts other forms, such as fractions of a second. form is a layout of package time that text must match digit for digit; it must consist of
// numbers of fixed lengths, from the year down to the second or the millisecond. ReadTime returns false for any other text, and
// for a time that does not exist, such as the 30th of February.
func ReadTime[T string | []byte](form string, text T) (time.Time, bool) {
	if len(text) != len(form) {
		return time.Time{}, false
	}
	var n [7]int // year, month, day, hour, minute, second, millisecond
	at := 0
	for i := range len(form) {
		switch want, c := form[i], text[i]; {
		case want < '0' || want > '9':
			if c != want {
				return time.Time{}, false
			}
			at++
		case c < '0' || c > '9':
			return time.Time{}, false
		default:
			n[at] = n[at]*10 + int(c-'0')
		}
	}
	month, day := n[1], n[2]
	t := time.Date(n[0], time.Month(month), day, n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	return t, month >= 1 && month <= 12 && day >= 1 && t.Day() == day && n[3] < 24 && n[4] < 60 && n[5] < 60
}
