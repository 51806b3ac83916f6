package content

import (
	"iter"
)

// manyBlocks is up to how many blocks of a record are searched one by one for an id; a record with more gets an index.
const manyBlocks = 64

// BlocksOf are the blocks with an id. The loop may give a block another id.
func (n *Facts) BlocksOf(id string) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		if len(n.Blocks) > manyBlocks {
			for _, b := range n.indexed()[id] {
				if b.ID == id && !yield(b) {
					return
				}
			}
			return
		}
		for i := range n.Blocks {
			if b := &n.Blocks[i]; b.ID == id && !yield(b) {
				return
			}
		}
	}
}

// indexed returns the blocks by their ids, including the ids that they had before they were renamed.
func (n *Facts) indexed() map[string][]*Block {
	if n.byID == nil {
		n.Own().byID = make(map[string][]*Block, len(n.Blocks))
		for i := range n.Blocks {
			b := &n.Blocks[i]
			n.byID[b.ID] = append(n.byID[b.ID], b)
		}
	}
	return n.byID
}

// Name gives a block of the record another id.
func (n *Facts) Name(b *Block, id string) {
	b.ID = id
	if n.byID != nil {
		n.byID[id] = append(n.byID[id], b)
	}
}
