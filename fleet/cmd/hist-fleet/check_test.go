package main

import (
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestReaches: whatever the worst impact is, a threshold of it or a lesser one is reached, and no greater one.
func TestReaches(t *testing.T) {
	for _, worst := range lint.Impacts {
		d := &done{}
		d.Worst = map[string]int64{worst.String(): 1}
		for _, threshold := range lint.Impacts {
			if got := d.reaches(threshold); got != worst.AtLeast(threshold) {
				t.Errorf("worst %s, threshold %s: %v", worst, threshold, got)
			}
		}
	}
}
