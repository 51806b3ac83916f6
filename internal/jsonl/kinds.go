package jsonl

const (
	kindBlock = 1 << 13 // words in a block: half a million levels
	keptKinds = 2       // blocks kept between lines
)

// A kindStack holds one bit per open container, 64 in a word. It grows by
// blocks, so that a line of nothing but brackets costs an eighth of its size
// and no copy.
type kindStack struct {
	blocks [][]uint64
	words  int
}

func (k *kindStack) push(w uint64) {
	b := k.words / kindBlock
	if b == len(k.blocks) {
		k.blocks = append(k.blocks, make([]uint64, kindBlock))
	}
	k.blocks[b][k.words%kindBlock] = w
	k.words++
}

func (k *kindStack) pop() uint64 {
	k.words--
	return k.blocks[k.words/kindBlock][k.words%kindBlock]
}

// release empties the stack and drops what only a very deep line needs.
func (k *kindStack) release() {
	k.words = 0
	if len(k.blocks) > keptKinds {
		k.blocks = append([][]uint64(nil), k.blocks[:keptKinds]...)
	}
}
