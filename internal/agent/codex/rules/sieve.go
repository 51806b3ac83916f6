package rules

// A sieve knows of most ids that have not come that they have not: one look at a table that stays in the processor's cache,
// where a large map is a look or two at memory.
type sieve struct {
	bits []uint64 // nil while there are so few that it is not worth it
}

const (
	sieveBits = 1 << 19
	sieveFrom = 1 << 11 // ids from which on it is worth it
)

// add adds a hashed id. have is how many there are by now; all of them are given by each when the sieve begins to work.
func (s *sieve) add(id uint64, have int, each func(add func(id uint64))) {
	if s.bits == nil {
		if have < sieveFrom {
			return
		}
		s.bits = make([]uint64, sieveBits/64)
		each(s.set)
	}
	s.set(id)
}

func (s *sieve) set(id uint64) { s.bits[id/64%uint64(len(s.bits))] |= 1 << (id % 64) }

// lacks says that an id has not come. If it does not say so, the id may have come.
func (s *sieve) lacks(id uint64) bool {
	return s.bits != nil && s.bits[id/64%uint64(len(s.bits))]&(1<<(id%64)) == 0
}

// forget begins anew.
func (s *sieve) forget() { clear(s.bits) }
