package jsonl

// Valid says whether a text is one JSON value. It is for texts that are not lines of a session: those were judged when they were
// read. Nesting costs no stack; a value that is nested deeper than a line may be is not valid here (gjson.Valid recurses, and ends
// the program on some megabytes of open brackets).
func Valid(text []byte) bool { return NewScanner(nil).Scan(text, nil).Fault == None }
