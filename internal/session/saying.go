package session

import (
	"crypto/sha256"
	"hash"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Saying hashes what an item says. Equal values give equal hashes whatever their white space and the order of their members; of a
// member that is there twice the last counts, as for every client measured.
type Saying struct {
	hash hash.Hash
	buf  []byte
}

// deepest is how many brackets deep members are sorted. What lies deeper is hashed as it is written.
const deepest = 256

// NewSaying begins a hash with what kind of item it is, and who says it.
func NewSaying(kind ItemKind, role string) *Saying {
	s := &Saying{hash: sha256.New()}
	s.Text(string(rune('a'+kind)) + role)
	return s
}

// Text adds a text. Bytes that are not UTF-8 count as U+FFFD, as clients read them.
func (s *Saying) Text(text string) {
	s.buf = append(append(s.buf[:0], strings.ToValidUTF8(text, "\ufffd")...), 0)
	s.hash.Write(s.buf)
}

// Value adds a JSON value, without some of its members.
func (s *Saying) Value(v gjson.Result, without ...string) { s.value(v, 0, without) }

func (s *Saying) value(v gjson.Result, depth int, without []string) {
	switch {
	case v.Type == gjson.String:
		s.Text(`"` + v.Str)
	case depth > deepest || !v.IsObject() && !v.IsArray():
		s.Text(v.Raw)
	case v.IsArray():
		s.Text("[")
		v.ForEach(func(_, e gjson.Result) bool {
			s.value(e, depth+1, nil)
			return true
		})
		s.Text("]")
	default:
		s.Text("{")
		members := Members(v)
		for _, name := range sortedNames(members) {
			if !slices.Contains(without, name) {
				s.Text(name)
				s.value(members[name], depth+1, nil)
			}
		}
		s.Text("}")
	}
}

// Members are an object's, the last of each name.
func Members(v gjson.Result) map[string]gjson.Result {
	m := map[string]gjson.Result{}
	v.ForEach(func(key, value gjson.Result) bool {
		m[key.Str] = value
		return true
	})
	return m
}

func sortedNames(m map[string]gjson.Result) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Sum is the hash of all that was added.
func (s *Saying) Sum() (sum [16]byte) {
	copy(sum[:], s.hash.Sum(nil))
	return sum
}
