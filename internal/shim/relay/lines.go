package relay

import "bytes"

// lines cuts a stream into lines, to be seen only. A line that is too long is passed over.
type lines struct {
	part []byte // of a line whose end has not come
	long bool   // within a line that is too long
}

// within says whether the stream stands within a line.
func (l *lines) within() bool { return l.long || len(l.part) > 0 }

// feed takes in a part of the stream and shows the lines that end in it.
func (l *lines) feed(chunk []byte, show func(line []byte)) {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			break
		}
		switch {
		case l.long:
			l.long = false
		case len(l.part) > 0:
			show(append(l.part, chunk[:i]...))
			l.part = l.part[:0]
		default:
			show(chunk[:i])
		}
		chunk = chunk[i+1:]
	}
	switch {
	case l.long || len(chunk) == 0:
	case len(l.part)+len(chunk) > MaxMessage:
		l.part, l.long = nil, true
	default:
		l.part = append(l.part, chunk...)
	}
}
