package relay

import "bytes"

// lines cuts a stream into lines, for reading only. Lines of more than MaxMessage bytes are skipped.
type lines struct {
	part []byte // the beginning of a line whose end has not come
	long bool   // the line is too long, and the rest of it is skipped
}

// midLine says whether the last byte of the stream so far was not the end of a line.
func (l *lines) midLine() bool { return l.long || len(l.part) > 0 }

// feed takes the next part of the stream and calls show for each line that ends in it.
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
