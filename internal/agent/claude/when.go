package claude

import "time"

// timeForm is how clients write a time.
const timeForm = "2006-01-02T15:04:05.000Z"

// millisOf reads a record's time, in milliseconds since 1970; 0 if it is none.
func millisOf(text []byte) int64 {
	if ms, ok := asWritten(text); ok {
		return ms
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// asWritten reads a time that stands there as clients write it. There is one in each record, and time.Parse takes three times as long.
func asWritten(text []byte) (ms int64, ok bool) {
	if len(text) != len(timeForm) {
		return 0, false
	}
	var n [7]int // year, month, day, hour, minute, second, millisecond
	at := 0
	for i, c := range text {
		switch want := timeForm[i]; {
		case want < '0' || want > '9':
			if c != want {
				return 0, false
			}
			at++
		case c < '0' || c > '9':
			return 0, false
		default:
			n[at] = n[at]*10 + int(c-'0')
		}
	}
	year, month, day := n[0], n[1], n[2]
	date := time.Date(year, time.Month(month), day, n[3], n[4], n[5], 0, time.UTC)
	exists := month >= 1 && month <= 12 && day >= 1 && date.Day() == day && n[3] < 24 && n[4] < 60 && n[5] < 60
	return date.Unix()*1000 + int64(n[6]), exists
}
