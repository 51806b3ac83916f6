package claude

import (
	"iter"
)

// manyBlocks is how many blocks of a record are gone through for one of an id; of more there is an index.
const manyBlocks = 64

// blocksOf are the blocks with an id. They may get another one on the way.
func (n *node) blocksOf(id string) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		if len(n.blocks) > manyBlocks {
			for _, b := range n.indexed()[id] {
				if b.id == id && !yield(b) {
					return
				}
			}
			return
		}
		for i := range n.blocks {
			if b := &n.blocks[i]; b.id == id && !yield(b) {
				return
			}
		}
	}
}

// indexed are the blocks by their ids, and by those that they had before.
func (n *node) indexed() map[string][]*block {
	if n.byID == nil {
		n.own().byID = make(map[string][]*block, len(n.blocks))
		for i := range n.blocks {
			b := &n.blocks[i]
			n.byID[b.id] = append(n.byID[b.id], b)
		}
	}
	return n.byID
}

// name gives a block of the record another id.
func (n *node) name(b *block, id string) {
	b.id = id
	if n.byID != nil {
		n.byID[id] = append(n.byID[id], b)
	}
}
