// Package home knows where Codex keeps its sessions, how it names them, and who is using them right now.
//
// In: a home directory, an id, a path. Out: paths of rollout files, names for new ones, and whether somebody has a
// file open; the writer's lock when a file is to be replaced.
//
// Facts about names, directories and locks follow docs of the Codex format as of client 0.169.0.
//
// Never here: the content of a rollout, and any write to one. The only files made or removed are lock files, in the
// way that Codex itself makes and removes them.
package home
