package repair

import (
	"io"
)

// counter writes lines, and counts them and their bytes.
type counter struct {
	w     io.Writer
	bytes int64
	lines int64
	open  bool // the last line has no newline yet: it gets one if another line follows
	err   error
}

var newline = []byte{'\n'}

// line writes one line, with a newline if it is terminated.
func (c *counter) line(line []byte, terminated bool) error {
	if c.open {
		c.put(newline)
	}
	c.put(line)
	if terminated {
		c.put(newline)
	}
	c.open = !terminated
	c.lines++
	return c.err
}

// block writes whole lines.
func (c *counter) block(b []byte, lines int64) error {
	c.put(b)
	c.lines += lines
	return c.err
}

// terminate ends the last line.
func (c *counter) terminate() error {
	c.put(newline)
	c.open = false
	return c.err
}

func (c *counter) put(b []byte) {
	if c.err == nil {
		var n int
		n, c.err = c.w.Write(b)
		c.bytes += int64(n)
	}
}
