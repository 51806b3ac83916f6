package agent

import "testing"

// TestMeaningOfTheSystem: what Node and Rust say where the system does not let a client read or write.
func TestMeaningOfTheSystem(t *testing.T) {
	for text, want := range map[string]string{
		"ENOSPC: no space left on device, write":                                            "no space left on device",
		"failed to write: Disk quota exceeded (os error 122)":                               "disk quota exceeded",
		"Error: EACCES: permission denied, open '/srv/a.jsonl'":                             "eacces",
		"Failed to open: Permission denied (os error 13)":                                   "permission denied (os error 13)",
		"EPERM: operation not permitted, rename '/srv/a'":                                   "eperm",
		"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory": "javascript heap out of memory",
		"Error: Cannot create a string longer than 0x1fffffe8 characters":                   "cannot create a string longer than",
		"the program's itemFile: lost":                                                      "",
		"EMFILE: too many open files, open '/srv/a'":                                        "emfile: too many",
		"EROFS: read-only file system, mkdir '/srv/a'":                                      "erofs",
		"Read-only file system (os error 30)":                                               "read-only file system",
		"403: permission denied on the model":                                               "",
	} {
		got := ""
		if m := MeaningOf(text, nil); m != nil {
			got = m.Words
		}
		if got != want {
			t.Errorf("%q is recognized by %q, want %q", text, got, want)
		}
	}
}
