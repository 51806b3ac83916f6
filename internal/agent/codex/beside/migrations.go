package beside

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"strings"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// migrations are, by database, the first four bytes of the checksums of the migrations by which clients have made it, in order (the same
// in 0.114.0, 0.133.0, 0.145.0, 0.169.0 and 0.171.0). A client does not open one that was made by others.
var migrations = map[string]string{
	codexhome.StateFile: "627ef191521b72cbe58a28628adc25131ac64f85a203fc4b7e35a464aa3f287f8b4693608adaf13631ececbd0012a21305526a094d2fbb240eece6db" +
		"4768f7434cbdb2eda43630033884c02f07673f48ea1aebe4160fe01be6c748a9e92aa526d6fb51d76c62a325d84dca6aef44adaae9ec76f980c1cdac" +
		"943675a93c01d6154904aae3d6fea739d7b56acb6381f7bbf6a5ab0de7778522c217b3d1a7a996740dc734dbcfdc4fd4605128e75d29223ba7fadc8c" +
		"63addf611ae117e49d298333faf45c39d2802e9623360a03071e9631e86ef7cce62a99776daadc555de44fac729562c568467af34297dffbd7f0cf0a" +
		"4a833704dab8b7c8dffdc4b9a6862d0a",
	codexhome.HistoryFile: "2ad9a4abae61dbc1a51da2a165f33b172fdad8e302ed82d39334adb494635cd54def92ea",
}

// foreign is an error of class damaged if a client does not take a database for what its migrations have made: one of them is not the client's
// own text, as when a client for another system made it, or has not ended. What makes those for Windows is not known.
func foreign(ctx context.Context, db querier, path, name string) (found error) {
	known := migrations[name]
	if known == "" {
		return nil
	}
	err := query(ctx, db, path, func(rows *row) error {
		var version int
		var done sql.NullBool
		var sum string
		if err := rows.Scan(&version, &done, &sum); err != nil {
			return err
		}
		own := version < 1 || version > len(known)/8 || runtime.GOOS == "windows" || strings.EqualFold(known[version*8-8:version*8], sum)
		switch {
		case found != nil:
		case !own:
			found = damaged{fmt.Errorf("migration %d was previously applied but has been modified, as a client for another system leaves it", version)}
		case done.Valid && !done.Bool:
			found = damaged{fmt.Errorf("migration %d is partially applied", version)}
		}
		return nil
	}, "SELECT version, success, hex(substr(checksum, 1, 4)) FROM _sqlx_migrations ORDER BY version")
	if err != nil {
		return nil // in another form, or damaged, which is told apart from this
	}
	return found
}
