package follow

import (
	"fmt"
	"testing"
	"time"
)

// TestPending: paths come in the order in which they are due, each once, by the time that was set last.
func TestPending(t *testing.T) {
	p := pending{due: map[string]time.Time{}}
	begin := time.Now()
	for round := range 3 {
		for i := range 100 {
			p.set(fmt.Sprintf("%03d", (i*37)%100), begin.Add(time.Duration(round*1000+(i*37)%100)))
		}
	}
	p.drop("050")
	if p.has("050") || !p.has("051") {
		t.Error("what was dropped is there, or what was not is gone")
	}
	for i := range 100 {
		if i == 50 {
			continue
		}
		path, at := p.first()
		if path != fmt.Sprintf("%03d", i) || !at.Equal(begin.Add(time.Duration(2000+i))) {
			t.Fatalf("%d: %q at %v", i, path, at.Sub(begin))
		}
		p.drop(path)
	}
	if path, _ := p.first(); path != "" || len(p.order) > 0 {
		t.Errorf("%q is left, and %d moments", path, len(p.order))
	}
}
