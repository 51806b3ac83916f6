package publish

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const errQuota = windows.ERROR_DISK_QUOTA_EXCEEDED

// GiveTo does nothing: a new file inherits its rights from the directory, like the file that it replaces.
func GiveTo(*os.File, fs.FileInfo) bool { return true }

// Foreign is always false: the owner is not examined on this system.
func Foreign(fs.FileInfo) bool { return false }

// Names is always 1: hard links are not counted on this system.
func Names(fs.FileInfo) int { return 1 }

// SyncDir does nothing: directories are not synced on this system.
func SyncDir(string) error { return nil }

// renameNew renames tmp to path and fails with an error that is fs.ErrExist if that name is taken.
func renameNew(tmp, path string) error {
	from, err := windows.UTF16PtrFromString(tmp)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(from, to, windows.MOVEFILE_WRITE_THROUGH)
}
