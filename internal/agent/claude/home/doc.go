// Package home is what Claude Code keeps on the disk: where its sessions are, which of them is open, the list of prompts and the settings
// that name directories, and what the client deletes with time.
//
// Never here: what is wrong with a session.
package home
