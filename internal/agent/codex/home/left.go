package home

import (
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/walk"
)

// Left are the files in which a daemon of this home says that it runs, though it does not: it was killed. The next one replaces them
// (measured with 0.171.0).
func Left(home string) (list []string) {
	paths, _ := filepath.Glob(filepath.Join(walk.Literal(home), "app-server-daemon", "*.pid")) // the pattern is sound
	for _, p := range paths {
		raw, err := disk.ReadFile(p)
		pid := int(gjson.GetBytes(raw, "pid").Int())
		if err != nil || pid <= 0 {
			continue
		}
		ticks, _, known := disk.ProcessStarted(pid)
		noted := gjson.GetBytes(raw, "processIdentity.startTicks")
		if !disk.ProcessAlive(pid) || known && noted.Exists() && noted.Int() != ticks {
			list = append(list, p)
		}
	}
	return list
}
