// Package publish is the only way by which hist writes files that a user will see.
//
// In: a target path, a function that writes the content, a function that checks it. Out: the whole file under its
// name, synced to the disk, or nothing changed at all, whatever goes wrong in between, kill -9 and power loss included.
//
// Never here: what the content means, or opening an existing file for writing.
package publish
