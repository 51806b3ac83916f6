package repair

import (
	"io"
)

// counter counts what is written. A line that lacks its newline gets it when another follows.
type counter struct {
	w     io.Writer
	bytes int64
	lines int64
	err   error
}

var newline = []byte{'\n'}

func (c *counter) line(line []byte, end, open bool) error {
	if open {
		c.put(newline)
	}
	c.put(line)
	if end {
		c.put(newline)
	}
	c.lines++
	return c.err
}

// block writes whole lines.
func (c *counter) block(b []byte, lines int64) error {
	c.put(b)
	c.lines += lines
	return c.err
}

func (c *counter) put(b []byte) {
	if c.err == nil {
		var n int
		n, c.err = c.w.Write(b)
		c.bytes += int64(n)
	}
}

func (c *counter) flush(end bool) error {
	if end {
		c.put(newline)
	}
	return c.err
}
