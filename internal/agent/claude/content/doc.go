// Package content is what one record of the tree says, and what is wrong with that.
//
// In: a record, and the one in front of it, which usually shares ids and words with it. Out: its facts, without the texts themselves, and
// the faults of its blocks with the cuts that mend them. A fault is a function of one record, found while its line is scanned. Never here:
// what other records say.
package content
