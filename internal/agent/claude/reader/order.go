package reader

import (
	"cmp"
	"slices"
)

// inOrder are the records that are sent, in the order in which the client puts them: the way down to the tip; behind an answer what hangs
// beside the way of its other parts, and then of its outputs, each by time; behind the summary what a compaction has kept.
func (f *file) inOrder(way *Way) []int32 {
	o := order{f: f, way: way, place: make(map[int32]int32, len(way.Up)), lastOf: map[string]int32{}, callAt: map[string]int32{}, kept: map[int32]bool{}}
	for at := range int32(len(way.Up)) {
		i := o.onWay(at)
		o.place[i] = at
		if r := &f.records[i]; r.Role == Answer && r.answer != "" {
			o.lastOf[r.answer] = at
		}
	}
	for _, i := range way.Kept {
		o.kept[i] = true
	}
	o.putOutputs(o.putAnswers())
	o.putKept()
	return o.merged()
}

// order is what is known while the records that are sent are put in order. Places are counted down the way, from its top.
type order struct {
	f      *file
	way    *Way
	place  map[int32]int32  // of the records on the way
	lastOf map[string]int32 // of an answer's last part on the way, by the answer's id
	callAt map[string]int32 // where the output of a call belongs, by the call's id
	kept   map[int32]bool   // what compactions keep and has no place yet
	beside []besideWay
}

// besideWay is a record that is sent behind a place of the way: what a compaction keeps first, then parts of answers, then outputs.
type besideWay struct{ at, rank, i int32 }

const (
	rankKept int32 = iota
	rankAnswer
	rankOutput
)

// onWay is the record at a place of the way.
func (o *order) onWay(at int32) int32 { return o.way.Up[int32(len(o.way.Up))-1-at] }

// anchor is the place behind which a part of an answer is sent.
func (o *order) anchor(i int32) int32 {
	if r := &o.f.records[i]; r.answer != "" {
		if at, ok := o.lastOf[r.answer]; ok {
			return at
		}
	}
	return o.place[i]
}

// putAnswers puts what is sent of answers beside the way, and returns the outputs there.
func (o *order) putAnswers() (outputs []int32) {
	for n := range o.f.records {
		i, r := int32(n), &o.f.records[n]
		if !o.way.On[n] || r.Role == Link {
			continue
		}
		if r.Asks {
			for id := range r.each("tool_use", "id") {
				if _, has := o.callAt[id]; !has {
					o.callAt[id] = o.anchor(i)
				}
			}
		}
		if _, on := o.place[i]; on || o.kept[i] {
			continue
		}
		if r.Role == Output {
			outputs = append(outputs, i)
			continue
		}
		o.beside = append(o.beside, besideWay{o.anchor(i), rankAnswer, i})
	}
	return outputs
}

// putOutputs puts outputs behind the answers whose calls they answer.
func (o *order) putOutputs(outputs []int32) {
	for _, i := range outputs {
		at := int32(0)
		for id := range o.f.records[i].each("tool_result", "tool_use_id") {
			if p, ok := o.callAt[id]; ok {
				at = p
				break
			}
		}
		o.beside = append(o.beside, besideWay{at, rankOutput, i})
	}
}

// putKept puts what a compaction keeps behind its summary, or else behind its mark.
func (o *order) putKept() {
	for _, m := range o.way.Up {
		r := &o.f.records[m]
		if r.Role != Mark || len(r.keeps) == 0 {
			continue
		}
		at := o.place[m]
		if p, ok := o.place[o.f.find(r.anchor)]; ok {
			at = p
		}
		for _, id := range r.keeps {
			k := o.f.find(id)
			if _, on := o.place[k]; k >= 0 && o.kept[k] && !on {
				o.beside = append(o.beside, besideWay{at, rankKept, k})
				delete(o.kept, k)
			}
		}
	}
}

// merged is the way, with what stands beside it behind its place.
func (o *order) merged() []int32 {
	when := func(b besideWay) int64 { return o.f.records[b.i].When }
	slices.SortStableFunc(o.beside, func(a, b besideWay) int {
		switch {
		case a.at != b.at:
			return int(a.at - b.at)
		case a.rank != b.rank:
			return int(a.rank - b.rank)
		case a.rank > rankKept && when(a) != 0 && when(b) != 0:
			return cmp.Compare(when(a), when(b))
		}
		return 0
	})
	list, beside := make([]int32, 0, len(o.way.Up)+len(o.beside)), o.beside
	for at := range int32(len(o.way.Up)) {
		list = append(list, o.onWay(at))
		for len(beside) > 0 && beside[0].at == at {
			list = append(list, beside[0].i)
			beside = beside[1:]
		}
	}
	return list
}
