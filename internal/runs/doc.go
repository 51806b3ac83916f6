// Package runs keeps the record of every repair: what was changed, the original bytes, the bytes set aside, the
// reports. It is what makes a repair reversible.
//
// In: the files that a repair is about to publish. Out: one directory per run below $XDG_STATE_HOME/hist/runs, readable
// only by its owner, and the undo of a run.
//
// A run survives a crash at any point. The order is: the backup is on the disk, then the manifest says what is about
// to happen, then the file is renamed into place, then the manifest says that it was. If the last entry is missing, loading
// the run decides by the hash of the file on the disk whether the rename took place.
//
// Never here: what a session means, which agent wrote it, and whether a process is using it. Callers hold the agent's
// lock around Publish and Undo.
package runs
