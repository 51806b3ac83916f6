// Package publish is the one door through which bytes reach the disk where a user will look for them.
//
// In: a target path, a function that writes the content, a function that checks it. Out: the whole file under its
// name, on the disk and synced, or nothing changed at all, whatever goes wrong in between, kill -9 and power loss
// included.
//
// Never here: what the content means, and opening an existing file for writing.
package publish
