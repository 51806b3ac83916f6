package rowprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"
)

// Print is a fingerprint.
type Print = [16]byte

// Table is a table each of whose rows belongs to the key in its first column.
type Table struct{ Name, Key string }

// Prints returns a fingerprint of all that a database holds of each key: its rows in some tables, and their entries in the
// indexes that begin with the key. All columns count, and the numbers of the rows. That of the key "" is of the database's schema, on
// which all the others hang, too. A table that is missing has no rows.
//
// What a query for a key in these tables gives hangs on the key's print alone: by which way SQLite comes to the rows, the order
// of keys and of rows is as it must be, and each index has as many entries of a key as there are rows.
func Prints(path string, tables []Table) (map[string]Print, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	s := summer{file: f, keys: map[string]*sums{}, hash: sha256.New()}
	list, err := s.schema()
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		if err := s.table(list, t, byte(i)); err != nil {
			return nil, err
		}
	}
	prints := make(map[string]Print, len(s.keys)+1)
	prints[""] = s.common
	for key, k := range s.keys {
		s.hash.Reset()
		s.hash.Write(s.common[:])
		s.hash.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, k.a), k.b))
		prints[key] = Print(s.hash.Sum(nil)[:16])
	}
	return prints, nil
}

// sums is what was found of one key.
type sums struct {
	a, b uint64 // the sum of the hashes of its rows, which come in an order that hangs on other keys
	rows int    // in the table in hand
}

func (k *sums) add(h hash.Hash) {
	var text [sha256.Size]byte
	h.Sum(text[:0])
	k.a += binary.LittleEndian.Uint64(text[:])
	k.b += binary.LittleEndian.Uint64(text[8:])
}

// summer makes the prints.
type summer struct {
	*file
	common Print
	keys   map[string]*sums
	hash   hash.Hash
	last   string // the key in hand
	of     *sums  // what was found of it
}

// object is a row of the schema.
type object struct {
	kind, name, table, sql string
	root                   uint32
}

// schema reads what the database consists of.
func (s *summer) schema() (list []object, err error) {
	s.hash.Reset()
	t := tree{file: s.file, row: func(_ int64, payload []byte) error {
		var o object
		n, texts := 0, [...]*string{&o.kind, &o.name, &o.table, nil, &o.sql}
		ok := columns(payload, func(kind uint64, text []byte) bool {
			if n < len(texts) && texts[n] != nil && isText(kind) {
				*texts[n] = string(text)
			} else if n == 3 {
				for _, b := range text {
					o.root = o.root<<8 | uint32(b)
				}
				if kind == 9 { // the number one has no bytes
					o.root = 1
				}
			}
			n++
			return true
		})
		if !ok || n != len(texts) {
			return form("a schema of %d columns", n)
		}
		list = append(list, o)
		for _, part := range []string{o.kind, o.name, o.table, o.sql} {
			s.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
			s.hash.Write([]byte(part))
		}
		return nil
	}}
	if err := t.walk(1, 0); err != nil {
		return nil, err
	}
	s.common = Print(s.hash.Sum(nil)[:16])
	return list, nil
}

// table adds the rows of a table, and the entries of its indexes.
func (s *summer) table(list []object, table Table, tag byte) error {
	rows, known := 0, false
	for _, o := range list {
		if !strings.EqualFold(o.name, table.Name) {
			continue
		}
		if known = o.kind == "table" && begins(o.sql, table.Key) && plain(o.sql); !known {
			return form("%s is no table of %s", o.name, table.Key)
		}
		for _, k := range s.keys {
			k.rows = 0
		}
		n, err := s.rows(o.root, tag)
		if err != nil {
			return err
		}
		rows = n
	}
	for i, o := range list {
		if o.kind != "index" || !strings.EqualFold(o.table, table.Name) || o.sql != "" && !begins(o.sql, table.Key) {
			continue
		}
		if !known || !plain(o.sql) {
			return form("index %s", o.name)
		}
		part := strings.Contains(strings.ToUpper(o.sql), "WHERE")
		if err := s.entries(o.root, []byte{tag, 1, byte(i), byte(i >> 8)}, rows, part); err != nil {
			return err
		}
	}
	return nil
}

// begins says whether the first column of a table or an index, as the statement that makes it has it, is named so.
func begins(sql, column string) bool {
	_, in, ok := strings.Cut(sql, "(")
	in = strings.TrimLeft(in, " \t\r\n\"`[")
	if !ok || len(in) <= len(column) || !strings.EqualFold(in[:len(column)], column) {
		return false
	}
	return strings.ContainsRune(" \t\r\n\"`],)", rune(in[len(column)]))
}

// plain says whether texts are compared byte by byte.
func plain(sql string) bool { return !strings.Contains(strings.ToUpper(sql), "COLLATE") }

// rows adds those of a table, and returns how many there are.
func (s *summer) rows(root uint32, tag byte) (n int, err error) {
	head := []byte{tag, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	t := tree{file: s.file, row: func(number int64, payload []byte) error {
		key, err := keyOf(payload)
		if err != nil {
			return err
		}
		k := s.sumsOf(key)
		binary.LittleEndian.PutUint64(head[2:], uint64(number))
		s.hash.Reset()
		s.hash.Write(head)
		s.hash.Write(payload)
		k.add(s.hash)
		k.rows++
		n++
		return nil
	}}
	return n, t.walk(root, 0)
}

// sumsOf is what was found of a key.
func (s *summer) sumsOf(key []byte) *sums {
	if s.of == nil || s.last != string(key) {
		if s.of = s.keys[string(key)]; s.of == nil {
			s.of = &sums{}
			s.keys[string(key)] = s.of
		}
		s.last = string(key)
	}
	return s.of
}

// entries adds those of an index, which stand in the order of the keys. Unless it holds only a part of the rows, there is one for each.
func (s *summer) entries(root uint32, tag []byte, rows int, part bool) error {
	var key, size []byte
	n, all, begun := 0, 0, false
	end := func() error {
		if !begun {
			return nil
		}
		k := s.keys[string(key)]
		if k == nil || n > k.rows || n < k.rows && !part {
			return form("an index with %d entries of a key", n)
		}
		k.add(s.hash)
		return nil
	}
	t := tree{file: s.file, index: true, row: func(_ int64, payload []byte) error {
		next, err := keyOf(payload)
		if err != nil {
			return err
		}
		if order := bytes.Compare(next, key); !begun || order > 0 {
			if err := end(); err != nil {
				return err
			}
			key, n, begun = append(key[:0], next...), 0, true
			s.hash.Reset()
			s.hash.Write(tag)
		} else if order < 0 {
			return form("an index without order")
		}
		n++
		all++
		size = binary.LittleEndian.AppendUint64(size[:0], uint64(len(payload)))
		s.hash.Write(size)
		s.hash.Write(payload)
		return nil
	}}
	if err := t.walk(root, 0); err != nil {
		return err
	}
	if all != rows && !part {
		return form("an index with %d entries of %d rows", all, rows)
	}
	return end()
}

// keyOf is the first column of a row or an entry.
func keyOf(payload []byte) (key []byte, err error) {
	ok := columns(payload, func(kind uint64, text []byte) bool {
		if isText(kind) {
			key = text
		}
		return false
	})
	if !ok || len(key) == 0 {
		return nil, form("a row without a key")
	}
	return key, nil
}
