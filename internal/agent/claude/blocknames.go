package claude

import (
	"iter"
)

// manyBlocks is up to how many blocks of a record are searched one by one for an id; a record with more gets an index.
const manyBlocks = 64

// blocksOf are the blocks with an id. The loop may give a block another id.
func (n *facts) blocksOf(id string) iter.Seq[*block] {
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

// indexed returns the blocks by their ids, including the ids that they had before they were renamed.
func (n *facts) indexed() map[string][]*block {
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
func (n *facts) name(b *block, id string) {
	b.id = id
	if n.byID != nil {
		n.byID[id] = append(n.byID[id], b)
	}
}
