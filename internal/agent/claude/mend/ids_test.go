package mend

import (
	"strconv"
	"testing"
)

func TestIDSet(t *testing.T) {
	const many = 775
	var s idSet
	if s.has("0") || !s.apart() || s.size() != 0 {
		t.Error("an empty set holds something")
	}
	for i := range many {
		s.add(strconv.Itoa(i))
	}
	if !s.apart() || s.size() != many {
		t.Errorf("of %d ids %d are held, apart: %v", many, s.size(), s.apart())
	}
	if !s.has("0") || !s.has(strconv.Itoa(many-1)) || s.has(strconv.Itoa(many)) {
		t.Error("the set does not hold what was added")
	}
	if s.add(strconv.Itoa(many)); !s.has(strconv.Itoa(many)) {
		t.Error("an id that was asked for before it came is not found")
	}
	if s.add("5"); s.apart() || s.size() != many+1 {
		t.Error("an id that was added twice is not noticed")
	}
}
