package rowprint

import (
	"encoding/binary"
	"math"
)

// Kinds of pages of a tree.
const (
	indexInner = 2
	tableInner = 5
	indexLeaf  = 10
	tableLeaf  = 13
)

// maxDepth is how many levels a tree may have, as in SQLite; maxPayload is how long a row may be that is read.
const (
	maxDepth   = 20
	maxPayload = 256 << 20
)

// tree is what is read of one tree: a table's, or an index's.
type tree struct {
	*file
	index bool
	low   int64 // of a table: the number of the row in front
	any   bool  // there is one
	// row is called for each row of a table, or each entry of an index (number 0), in the order of the tree. What it is given is
	// valid until it returns.
	row func(number int64, payload []byte) error
}

// walk reads the tree below a page.
func (t *tree) walk(page uint32, depth int) error {
	if depth == maxDepth {
		return form("a tree of %d levels", depth)
	}
	if err := t.once(page); err != nil {
		return err
	}
	if t.levels[depth] == nil {
		t.levels[depth] = make([]byte, t.size)
	}
	text := t.levels[depth]
	if err := t.read(page, text); err != nil {
		return err
	}
	text = text[:t.usable]
	head := 0
	if page == 1 {
		head = headSize
	}
	kind, cells := text[head], int(binary.BigEndian.Uint16(text[head+3:]))
	inner := kind == tableInner || kind == indexInner
	if t.index != (kind == indexInner || kind == indexLeaf) || !inner && kind != tableLeaf && kind != indexLeaf {
		return form("page %d is of another kind", page)
	}
	list := head + 8
	if inner {
		list += 4
	}
	end := list + 2*cells // of the list of cells
	room := len(text) - end
	if room < 0 {
		return form("page %d has %d cells", page, cells)
	}
	for at := list; at < end; at += 2 {
		cell := int(binary.BigEndian.Uint16(text[at:]))
		if cell < end || cell > len(text)-4 {
			return form("page %d has a cell at %d", page, cell)
		}
		size, err := t.cell(text[cell:], inner, depth)
		if err != nil {
			return err
		}
		if room -= size; room < 0 { // no cell is part of another: else a page could hold many times its size
			return form("page %d has cells that overlap", page)
		}
	}
	if inner {
		return t.walk(binary.BigEndian.Uint32(text[head+8:]), depth+1)
	}
	return nil
}

// cell reads a cell, after all that is below it, and returns how many bytes of its page are the cell's.
func (t *tree) cell(cell []byte, inner bool, depth int) (length int, err error) {
	text := cell
	if inner {
		if err := t.walk(binary.BigEndian.Uint32(text), depth+1); err != nil {
			return 0, err
		}
		text = text[4:]
	}
	var size, number uint64
	var ok bool
	if t.index || !inner {
		if size, text, ok = varint(text); !ok {
			return 0, form("a cut cell")
		}
	}
	if !t.index {
		if number, text, ok = varint(text); !ok {
			return 0, form("a cut cell")
		}
		if err := t.above(int64(number), inner); err != nil || inner {
			return len(cell) - len(text), err
		}
	}
	payload, here, err := t.payload(size, text)
	if err != nil {
		return 0, err
	}
	return len(cell) - len(text) + here, t.row(int64(number), payload)
}

// above looks whether the number of a row comes behind the one before. That of an inner page may be that of the last row below it.
func (t *tree) above(number int64, inner bool) error {
	if t.any && (number < t.low || number == t.low && !inner) {
		return form("row %d behind row %d", number, t.low)
	}
	t.low, t.any = number, true
	return nil
}

// payload returns what a cell holds, of which only the beginning may lie on its page, and how many bytes of the page are its.
func (t *tree) payload(size uint64, text []byte) (all []byte, here int, err error) {
	most := t.usable - 35
	if t.index {
		most = (t.usable-12)*64/255 - 23
	}
	if size <= uint64(most) {
		if size > uint64(len(text)) {
			return nil, 0, form("a cut cell")
		}
		return text[:size], int(size), nil
	}
	if size > maxPayload {
		return nil, 0, form("a row of %d bytes", size)
	}
	least := (t.usable-12)*32/255 - 23
	here = least + (int(size)-least)%(t.usable-4)
	if here > most {
		here = least
	}
	if len(text) < here+4 {
		return nil, 0, form("a cut cell")
	}
	t.over = append(t.over[:0], text[:here]...)
	if t.spill == nil {
		t.spill = make([]byte, t.size)
	}
	for next := binary.BigEndian.Uint32(text[here:]); len(t.over) < int(size); next = binary.BigEndian.Uint32(t.spill) {
		if err := t.once(next); err != nil {
			return nil, 0, err
		}
		if err := t.read(next, t.spill); err != nil {
			return nil, 0, err
		}
		t.over = append(t.over, t.spill[4:4+min(t.usable-4, int(size)-len(t.over))]...)
	}
	return t.over, here + 4, nil
}

// varint reads a number of one to nine bytes, in SQLite's form.
func varint(text []byte) (n uint64, rest []byte, ok bool) {
	for i, b := range text[:min(9, len(text))] {
		if i == 8 {
			return n<<8 | uint64(b), text[9:], true
		}
		if n = n<<7 | uint64(b&0x7f); b < 0x80 {
			return n, text[i+1:], true
		}
	}
	return 0, nil, false
}

// columns calls do with the columns of a row, in their order, until it returns false: with the type and the bytes of each.
func columns(payload []byte, do func(kind uint64, text []byte) bool) bool {
	size, head, ok := varint(payload)
	if !ok || size > uint64(len(payload)) || size < uint64(len(payload)-len(head)) {
		return false
	}
	head, body := payload[len(payload)-len(head):size], payload[size:]
	for len(head) > 0 {
		var kind uint64
		if kind, head, ok = varint(head); !ok {
			return false
		}
		n := lengthOf(kind)
		if n > uint64(len(body)) {
			return false
		}
		if !do(kind, body[:n]) {
			return true
		}
		body = body[n:]
	}
	return true
}

// lengthOf is how many bytes a column of a type has.
func lengthOf(kind uint64) uint64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind < 10:
		return [...]uint64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
	}
	return math.MaxUint64 // of no row
}

// isText says whether a column of a type is a text.
func isText(kind uint64) bool { return kind >= 13 && kind%2 == 1 }
