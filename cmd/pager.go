package cmd

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
)

// paged writes a text: on a terminal that is too low for it through $PAGER, or less, if that can be run.
func (e *env) paged(text []byte) error {
	pager := cmp.Or(os.Getenv("PAGER"), "less")
	_, height := sizeOf(e.out)
	if height == 0 || bytes.Count(text, []byte{'\n'}) < height || spoken() {
		_, err := e.out.Write(text)
		return err
	}
	path, err := exec.LookPath(pager)
	if err != nil {
		_, err = e.out.Write(text)
		return err
	}
	c := exec.Command(path)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), streamOf(e.out), streamOf(e.err)
	if c.Env = os.Environ(); os.Getenv("LESS") == "" {
		c.Env = append(c.Env, "LESS=FRX") // colours, and the text stays on the screen
	}
	return c.Run()
}
