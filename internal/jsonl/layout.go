package jsonl

// The lines of a file are alike: their objects mostly have the keys of earlier ones, in the same order. A layout is what
// was learned of that, as a tree of spots. A key that comes where it came before is recognized by its bytes, and needs
// neither hash nor search: what it means is known, and that its object does not have it yet.
//
// What a Scanner says does not hang on what its layout has learned. A key that was not expected is learned, or looked at
// by the ordinary way, as are all behind it in its object.
type layout struct {
	top   inside // the top-level value
	spots int    // how many there are
	room  []spot // for more
}

const (
	mostSpots = 2048 // that are learned
	mostSteps = 32   // keys that are learned for one spot: where more come, they are names of things
	mostPath  = 64   // keys of one object that are learned
)

// A spot is a point in an object where the Scanner has been: behind such and such keys.
type spot struct {
	node  *node  // the object's place in the shape, nil if nothing in it is wanted
	steps []step // the keys that came here; those that come often are in front
	wild  bool   // anything may come here: it is not worth looking

	before *spot // the spot before the last key, nil at the object's begin
	key    string
	keys   int // that lead here
}

// A step is a key at a spot.
type step struct {
	word, mask [2]uint64 // the first bytes of text
	text       string    // the key with its quotes and its colon
	node       *node     // of its value, nil if nothing in it is wanted
	next       *spot     // where the object goes on
	in         *inside
}

// inside is what is known of a value: where its keys begin if it is an object, and what its first and its other elements
// are if it is an array; nil where none came yet.
type inside struct {
	object        *spot
	first, others *inside
}

// elements is what is known of an array's others and first element.
func (in *inside) elements() (others, first *inside) {
	if in.first == nil {
		in.first, in.others = new(inside), new(inside)
	}
	return in.others, in.first
}

// take returns the step that a line takes at i, nil if it is none of those known.
func (p *spot) take(line []byte, i int) *step {
	if i+16 > len(line) {
		for k := range p.steps {
			if s := &p.steps[k]; i+len(s.text) <= len(line) && string(line[i:i+len(s.text)]) == s.text {
				return s
			}
		}
		return nil
	}
	w0, w1 := load(line, i), load(line, i+8)
	for k := range p.steps {
		s := &p.steps[k]
		if (w0^s.word[0])&s.mask[0]|(w1^s.word[1])&s.mask[1] != 0 {
			continue
		}
		if n := len(s.text); n > 16 && (i+n > len(line) || string(line[i+16:i+n]) != s.text[16:]) {
			continue
		}
		if k > 0 {
			p.steps[k-1], p.steps[k] = p.steps[k], p.steps[k-1]
			return &p.steps[k-1]
		}
		return s
	}
	return nil
}

// learn adds the key that stands at line[start:end], without escapes, and the node of its value. It returns nil if that
// is not to be learned.
func (l *layout) learn(p *spot, line []byte, start, end int, at *node) *step {
	if p.wild {
		return nil
	}
	key := line[start:end]
	if len(p.steps) == mostSteps || p.keys == mostPath {
		p.wild, p.steps = true, nil
		return nil
	}
	if l.spots == mostSpots || end+1 >= len(line) || line[end+1] != ':' || !plainASCII(key) {
		return nil
	}
	for q := p; q != nil && q.keys > 0; q = q.before {
		if q.key == string(key) {
			return nil // a duplicate
		}
	}
	s := step{text: string(line[start-1 : end+2]), node: at, in: new(inside)}
	s.next = l.spot(p.node)
	s.next.before, s.next.key, s.next.keys = p, s.text[1:len(s.text)-2], p.keys+1
	for k := range min(len(s.text), 16) {
		s.word[k/8] |= uint64(s.text[k]) << (k % 8 * 8)
		s.mask[k/8] |= 0xff << (k % 8 * 8)
	}
	p.steps = append(p.steps, s)
	return &p.steps[len(p.steps)-1]
}

func plainASCII(key []byte) bool {
	for _, c := range key {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// spot makes one.
func (l *layout) spot(n *node) *spot {
	if len(l.room) == 0 {
		l.room = make([]spot, 32)
	}
	p := &l.room[0]
	l.room = l.room[1:]
	l.spots++
	p.node = n
	return p
}

// begin is the spot at which the objects at *p begin.
func (l *layout) begin(p **spot, n *node) *spot {
	if *p == nil && l.spots < mostSpots {
		*p = l.spot(n)
	}
	return *p
}
