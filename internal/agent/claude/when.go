package claude

import (
	"time"

	"github.com/hist-cli/hist/internal/instant"
)

// timeForm is how clients write a time.
const timeForm = "2006-01-02T15:04:05.000Z"

// millisOf reads a record's time, in milliseconds since 1970; 0 if it is none.
func millisOf(text []byte) int64 {
	if t, ok := instant.Read(timeForm, text); ok {
		return t.UnixMilli()
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
