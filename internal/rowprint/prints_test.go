package rowprint

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // what the prints are compared with
)

var tables = []Table{{"items", "thread"}, {"turns", "thread"}, {"later", "thread"}}

// schema is a database of every shape that is read: indexes over all rows and over some, one that is not the key's, a table with
// numbers of its own, one without any index.
const schema = `
CREATE TABLE items (thread TEXT NOT NULL, turn TEXT, item TEXT, ordinal INTEGER, at REAL, text TEXT, raw BLOB, kind TEXT DEFAULT 'x', PRIMARY KEY (thread, turn, item));
CREATE UNIQUE INDEX items_page ON items (thread, ordinal);
CREATE INDEX items_some ON "items"("thread", ordinal) WHERE kind = 'user';
CREATE INDEX items_kind ON items (kind, thread);
CREATE TABLE "turns" ("thread" TEXT NOT NULL, n INTEGER PRIMARY KEY AUTOINCREMENT, status TEXT);
CREATE TABLE other (x TEXT PRIMARY KEY);`

type base struct {
	path string
	db   *sql.DB
}

func newBase(t *testing.T, pragmas string) *base {
	t.Helper()
	b := &base{path: filepath.Join(t.TempDir(), "db.sqlite")}
	db, err := sql.Open("sqlite", b.path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	b.db = db
	b.do(t, pragmas)
	b.do(t, schema)
	return b
}

func (b *base) do(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := b.db.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// dumped are the rows of each key as SQLite tells them, and the error that it has for a key.
func dumped(db *sql.DB, keys []string) map[string]string {
	all := map[string]string{}
	for _, key := range keys {
		for _, query := range []string{
			"SELECT rowid, quote(turn), quote(item), ordinal, quote(at), quote(text), quote(raw), quote(kind) FROM items WHERE thread = ? ORDER BY ordinal, rowid",
			"SELECT count(*), max(ordinal) FROM items WHERE thread = ?",
			"SELECT rowid, quote(status) FROM turns WHERE thread = ? ORDER BY n",
		} {
			all[key] += rowsOf(db, query, key)
		}
	}
	return all
}

func rowsOf(db *sql.DB, query, key string) (told string) {
	rows, err := db.Query(query, key)
	if err != nil {
		return "error: " + err.Error()
	}
	defer rows.Close()
	names, _ := rows.Columns()
	row, to := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		to[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return "error: " + err.Error()
		}
		told += fmt.Sprintln(row...)
	}
	if err := rows.Err(); err != nil {
		return "error: " + err.Error()
	}
	return told
}

func keys() (list []string) {
	for i := range 12 {
		list = append(list, fmt.Sprintf("thread-%02d", i))
	}
	return append(list, "nobody", "")
}

// change changes something of one key.
func (b *base) change(t *testing.T, r *rand.Rand) {
	key := keys()[r.IntN(12)]
	long := strings.Repeat(fmt.Sprint(r.IntN(10)), []int{3, 90, 600, 9000}[r.IntN(4)])
	switch r.IntN(10) {
	case 0:
		b.do(t, "DELETE FROM items WHERE thread = ? AND ordinal % 3 = ?", key, r.IntN(3))
	case 1:
		b.do(t, "UPDATE items SET text = ? WHERE thread = ? AND ordinal = (SELECT min(ordinal) FROM items WHERE thread = ?)", long, key, key)
	case 2:
		b.do(t, "UPDATE items SET kind = ?, raw = x'00ff' WHERE thread = ?", []string{"user", "x", ""}[r.IntN(3)], key)
	case 3:
		b.do(t, "INSERT INTO turns (thread, status) VALUES (?, ?)", key, long)
	case 4:
		b.do(t, "DELETE FROM turns WHERE thread = ?", key)
	case 5:
		b.do(t, "UPDATE items SET at = ? WHERE thread = ?", []any{nil, 1, 0, 0.5, "text", -1 << 40}[r.IntN(6)], key)
	default:
		for range r.IntN(8) {
			b.do(t, "INSERT OR REPLACE INTO items VALUES (?1, ?2, ?3, (SELECT ifnull(max(ordinal), -1) + 1 FROM items WHERE thread = ?1), ?4, ?5, ?6, ?7)",
				key, fmt.Sprint("turn", r.IntN(5)), fmt.Sprint("item", r.IntN(1000)), r.Float64(), long, []byte(long[:1]), []string{"user", "x"}[r.IntN(2)])
		}
	}
}

// TestPrints: the rows of a key have the print that they had exactly as long as they are the same, whatever becomes of others;
// in pages of every size, with a journal and with a -wal file.
func TestPrints(t *testing.T) {
	for i, pragmas := range []string{
		"PRAGMA page_size = 512", "PRAGMA page_size = 4096", "PRAGMA page_size = 65536", "PRAGMA auto_vacuum = INCREMENTAL",
		"PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 40", "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0",
	} {
		t.Run(pragmas, func(t *testing.T) {
			b, r := newBase(t, pragmas), rand.New(rand.NewPCG(uint64(i), 1))
			rows, prints := dumped(b.db, keys()), map[string]Print(nil)
			for n := range 60 {
				now := rows
				if n > 0 {
					b.change(t, r)
					now = dumped(b.db, keys())
				}
				got, err := Prints(b.path, tables)
				if err != nil {
					t.Fatalf("%d: %v", n, err)
				}
				of := func(prints map[string]Print, key string) Print {
					if p, ok := prints[key]; ok {
						return p
					}
					return prints[""]
				}
				for _, key := range keys() {
					if prints != nil && (of(got, key) == of(prints, key)) != (rows[key] == now[key]) {
						t.Fatalf("%d, %q: the same print: %v, and the same rows: %v", n, key, of(got, key) == of(prints, key), rows[key] == now[key])
					}
				}
				rows, prints = now, got
			}
		})
	}
}

// TestForm: another schema makes other prints, and none come of what can't be read for sure.
func TestForm(t *testing.T) {
	fill := func(b *base) {
		b.do(t, "INSERT INTO items (thread, turn, item, ordinal) VALUES ('a', 't', 'i', 1), ('b', 't', 'i', 1)")
	}
	b := newBase(t, "")
	fill(b)
	first, err := Prints(b.path, tables)
	if err != nil || len(first) != 3 {
		t.Fatal(first, err)
	}
	for what, do := range map[string]string{
		"a column": "ALTER TABLE items ADD COLUMN more TEXT DEFAULT 'x'", "an index": "CREATE INDEX i ON items (thread, kind)", "a table": "CREATE TABLE later (thread TEXT)",
	} {
		b := newBase(t, "")
		fill(b)
		b.do(t, do)
		if got, err := Prints(b.path, tables); err != nil || got["a"] == first["a"] || got[""] == first[""] {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	for what, do := range map[string]string{
		"a view":            "CREATE VIEW later AS SELECT thread FROM turns",
		"no row numbers":    "CREATE TABLE later (thread TEXT PRIMARY KEY) WITHOUT ROWID",
		"another key":       "CREATE TABLE later (x TEXT, thread TEXT)",
		"another unique":    "CREATE TABLE later (thread TEXT, x TEXT UNIQUE); INSERT INTO later VALUES ('a', 'x')",
		"another order":     "CREATE INDEX i ON items (thread DESC)",
		"another collation": "CREATE INDEX i ON items (thread COLLATE NOCASE)",
		"no key":            "CREATE TABLE later (thread TEXT); INSERT INTO later VALUES (NULL)",
		"a number as key":   "CREATE TABLE later (thread INTEGER); INSERT INTO later VALUES (7)",
	} {
		b := newBase(t, "")
		fill(b)
		b.do(t, do)
		if got, err := Prints(b.path, tables); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	wide := newBase(t, "PRAGMA encoding = 'UTF-16'")
	fill(wide)
	if _, err := Prints(wide.path, tables); !errors.Is(err, ErrForm) {
		t.Error("UTF-16", err)
	}
	if err := os.WriteFile(b.path+"-journal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Prints(b.path, tables); !errors.Is(err, ErrForm) {
		t.Error("a journal", err)
	}
	if _, err := Prints(filepath.Join(t.TempDir(), "none"), tables); err == nil {
		t.Error("no database")
	}
}

// TestPrintsReadTheSame: what SQLite reads of a key is the same as long as the key's print is, however the file was damaged. Only
// SQLite may then find damage in what no row of the key hangs on.
func TestPrintsReadTheSame(t *testing.T) {
	for i, pragmas := range []string{"PRAGMA page_size = 512", "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0"} {
		b, r := newBase(t, pragmas), rand.New(rand.NewPCG(uint64(i), 7))
		for range 40 {
			b.change(t, r)
		}
		rows := dumped(b.db, keys())
		prints, err := Prints(b.path, tables)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, suffix := range []string{"", "-wal"} {
			if files[suffix], err = os.ReadFile(b.path + suffix); err != nil && suffix == "" {
				t.Fatal(err)
			}
		}
		refused, same, changed := 0, 0, 0
		for n := range 400 {
			path := filepath.Join(t.TempDir(), "db.sqlite")
			for suffix, text := range files {
				if len(text) == 0 {
					continue
				}
				if text = bytes.Clone(text); (suffix == "") == (n%2 == 0) || len(files["-wal"]) == 0 {
					text = damage(text, r)
				}
				if err := os.WriteFile(path+suffix, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Prints(path, tables)
			if err != nil {
				refused++
				continue
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			now := dumped(db, keys())
			db.Close()
			for _, key := range keys() {
				p, ok := got[key]
				if !ok {
					p = got[""]
				}
				before, ok := prints[key]
				if !ok {
					before = prints[""]
				}
				switch {
				case p != before:
					changed++
				case rows[key] != now[key]:
					t.Fatalf("%s, %d: %q has the same print, but was\n%.300s\nand is\n%.300s", pragmas, n, key, rows[key], now[key])
				default:
					same++
				}
			}
		}
		if refused == 0 || same == 0 || changed == 0 {
			t.Errorf("%s: %d refused, %d the same, %d changed", pragmas, refused, same, changed)
		}
	}
}

// TestOverlappingCells: a page of which all cells are the same bytes is not read: it would count as many times its size, and a small
// file would take hours.
func TestOverlappingCells(t *testing.T) {
	b := newBase(t, "PRAGMA page_size = 65536")
	for i := range 100 {
		b.do(t, "INSERT INTO items (thread, turn, item, ordinal) VALUES ('a', 't', ?, ?)", strings.Repeat("i", 10)+fmt.Sprint(i), i)
	}
	b.do(t, "INSERT INTO items (thread, turn, item, ordinal) VALUES ('a', 't', ?, 1000)", strings.Repeat("j", 15000))
	var root int64
	if err := b.db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_items_1'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	if _, err := Prints(b.path, tables); err != nil {
		t.Fatal(err)
	}
	b.db.Close()
	text, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	const cells, list = 101, 8 // and where the list of the cells begins on a page
	page := text[(root-1)*65536:]
	for i := range cells {
		copy(page[list+2*i:], page[list+2*(cells-1):][:2])
	}
	if err := os.WriteFile(b.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Prints(b.path, tables); !errors.Is(err, ErrForm) {
		t.Errorf("%v, %v", got, err)
	}
}

// damage changes a few bytes of a file, zeroes or moves a piece, or cuts it.
func damage(text []byte, r *rand.Rand) []byte {
	at := r.IntN(len(text))
	piece := text[at:min(len(text), at+1+r.IntN(1000))]
	switch r.IntN(6) {
	case 0:
		clear(piece)
	case 1:
		return text[:at]
	case 2:
		copy(piece, text[r.IntN(len(text)):])
	case 3:
		slices.Reverse(piece[:min(len(piece), 8)])
	default:
		text[at] ^= 1 << r.IntN(8)
	}
	return text
}
