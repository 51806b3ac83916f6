// Package mend is the rules that look at a whole session of Claude Code: which record hangs on which, what belongs to each call, where the
// client begins, what compactions kept; and how what is wrong with that is mended.
//
// In: logical records with their facts. Out: findings with the edits that mend them, and what is sent. A step that finds something changes
// the tree as its mend would, so that later steps see it mended; what a client of some version sends of it is told by package reader.
package mend
