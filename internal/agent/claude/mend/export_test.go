package mend

import (
	"reflect"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// NothingWritten says whether what all records share that have nothing rare is as it was.
func NothingWritten() bool {
	return reflect.ValueOf(*content.Nothing).IsZero() && reflect.ValueOf(*untouched).IsZero()
}
