// Package runs keeps the record of every repair: what was changed, the original bytes, the bytes set aside, the
// reports. It is what makes a repair reversible.
//
// In: the files that a repair is about to publish. Out: one directory a run below $XDG_STATE_HOME/hist/runs, readable
// by the owner only, and the way back from it.
//
// A run survives a crash at any point. The order is: the backup is on the disk, then the manifest says what is about
// to happen, then the file takes its name, then the manifest says that it did. Whoever loads a run that lacks the last
// entry settles it by the hash of the file on the disk.
//
// Never here: what a session means, which agent wrote it, and whether somebody is using it. Callers hold the agent's
// lock around Publish and Undo.
package runs
