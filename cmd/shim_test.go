package cmd

import (
	"runtime"
	"testing"
)

// TestPathLine: the line to paste holds a directory of any name.
func TestPathLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("PowerShell's line is another")
	}
	for dir, want := range map[string]string{
		"/opt/bin":      "export PATH=/opt/bin:$PATH",
		"/my bin/$(id)": "export PATH='/my bin/$(id)':$PATH",
	} {
		if line := first(dir); line != want {
			t.Errorf("%s: %s", dir, line)
		}
	}
}
