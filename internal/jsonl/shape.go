package jsonl

import (
	"errors"
	"fmt"
	"strings"
)

// A Shape is a set of wanted paths, ready for scanning. It is read-only and may
// be shared by scanners.
type Shape struct {
	root  *node
	paths int
	depth int // keys in the longest path
}

// A node is one key on the way to a wanted value.
type node struct {
	name     string
	hash     uint64
	path     int   // index of the path that ends here, or -1
	below    []int // paths that end here or deeper
	children []*node
	filter   uint64 // one bit per child, see bit
}

// Compile builds a Shape from paths such as "type" or "payload.item.id": object
// keys with dots between them. Arrays cannot be entered. The index of a path is
// its position in the call.
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
	for _, c := range n.children {
		if c.name == key {
			return c
		}
	}
	c := &node{name: key, hash: hash([]byte(key)), path: -1}
	n.children = append(n.children, c)
	n.filter |= bit(c.hash)
	return c
}

// child returns the node of a decoded key with the hash h, or nil.
func (n *node) child(key []byte, h uint64) *node {
	if n.filter&bit(h) == 0 {
		return nil
	}
	for _, c := range n.children {
		if c.hash == h && c.name == string(key) {
			return c
		}
	}
	return nil
}
