package jsonl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A Shape is a set of wanted paths, ready for scanning. It may be shared by
// scanners, and must not be copied.
type Shape struct {
	root  *node
	paths int
	depth int // keys in the longest path

	mu        sync.Mutex
	templates []*templates // what scanners have learned that are done, for the next ones
}

// keptTemplates is how many are kept: as many as scanners work side by side. A sync.Pool would forget them at each garbage
// collection, of which there is one for every few short sessions.
const keptTemplates = 16

// learned returns what a scanner has learned that is done, or nothing yet.
func (s *Shape) learned() *templates {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.templates)
	if n == 0 {
		return new(templates)
	}
	t := s.templates[n-1]
	s.templates = s.templates[:n-1]
	return t
}

// keep keeps what a scanner has learned, unless most of it are keys that do not come again.
func (s *Shape) keep(t *templates) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.full() && len(s.templates) < keptTemplates {
		s.templates = append(s.templates, t)
	}
}

// A node is one key on the way to a wanted value.
type node struct {
	name     string
	hash     uint64
	path     int        // index of the path that ends here, or -1
	below    []int      // paths that end here or deeper
	children *[64]*node // by the upper bits of their hashes, nil if there are none
	next     *node      // the next child in the same place
	first    *node      // the first element of an array, nil if nothing in it is wanted
}

// Compile builds a Shape from paths such as "type" or "payload.item.id": object
// keys with dots between them; "[0]" is the first element of an array, and the
// only one that can be wanted. The index of a path is its position in the call.
func Compile(paths ...string) (*Shape, error) {
	s := &Shape{root: &node{path: -1}, paths: len(paths)}
	for index, path := range paths {
		if path == "" {
			return nil, errors.New("empty path")
		}
		keys := strings.Split(path, ".")
		at := s.root
		for _, key := range keys {
			if key == "" {
				return nil, fmt.Errorf("path %q has an empty key", path)
			}
			at = at.descend(key)
			at.below = append(at.below, index)
		}
		if at.path >= 0 {
			return nil, fmt.Errorf("path %q is given twice", path)
		}
		at.path = index
		s.depth = max(s.depth, len(keys))
	}
	return s, nil
}

// descend returns the child called key, made if there is none.
func (n *node) descend(key string) *node {
	if key == "[0]" {
		if n.first == nil {
			n.first = &node{path: -1}
		}
		return n.first
	}
	h := hash([]byte(key))
	if c := n.child([]byte(key), h); c != nil {
		return c
	}
	if n.children == nil {
		n.children = new([64]*node)
	}
	c := &node{name: key, hash: h, path: -1, next: n.children[h>>58]}
	n.children[h>>58] = c
	return c
}

// wants says whether something is wanted in the container that begins with a bracket and has this node, which may be nil.
func (n *node) wants(bracket byte) bool {
	return n != nil && (bracket == '{' && n.children != nil || bracket == '[' && n.first != nil)
}

// child returns the node of a decoded key with the hash h, or nil.
func (n *node) child(key []byte, h uint64) *node {
	if n.children == nil {
		return nil
	}
	for c := n.children[h>>58]; c != nil; c = c.next {
		if c.hash == h && c.name == string(key) {
			return c
		}
	}
	return nil
}
