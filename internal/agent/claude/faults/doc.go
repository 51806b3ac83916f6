// Package faults lists what can be wrong with a session of Claude Code: the rules with their texts, and what a fault does to a client of
// each version.
//
// Never here: how a fault is found, and how it is mended.
package faults
