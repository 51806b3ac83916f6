// Package rowprint reads the file of an SQLite database itself, to find out fast which of its rows have changed: it gives a
// fingerprint of the rows of each key, and never a row. SQLite takes several times as long for it, because it makes a value of
// each column.
//
// In: the path of a database that nobody changes meanwhile, with its -wal file. Out: fingerprints, or ErrForm for all that is not
// sure to be read as SQLite would read it; then who asks goes by the state of the whole file.
//
// Never here: locks, writing, rows.
package rowprint
