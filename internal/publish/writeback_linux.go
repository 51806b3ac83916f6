package publish

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriteback has the disk begin with some bytes of a file, and does not wait for it. What goes wrong is found when the file is
// synced.
func beginWriteback(f *os.File, from, size int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, size, unix.SYNC_FILE_RANGE_WRITE)
}
