package claude

import "reflect"

// NothingWritten says whether what all records share that have nothing rare is as it was.
func NothingWritten() bool { return reflect.ValueOf(*nothing).IsZero() && reflect.ValueOf(*untouched).IsZero() }
