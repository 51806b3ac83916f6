// Package testhome makes agents' homes for tests. In: a txtar archive of a home's files. Out: a home on disk.
package testhome

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	_ "modernc.org/sqlite" // makes the databases

	_ "github.com/hist-cli/hist/internal/testkit" // for its pace of collecting garbage
)

// homeMark is replaced by the home's path in a database's statements.
const homeMark = "$HOME"

// Unpack writes the files of an archive below home. X.sql is a list of SQL statements that make the database X.sqlite. A file
// named "X, N days old" is written as X, with a modification time N days ago.
func Unpack(archive, home string) error {
	ar, err := txtar.ParseFile(archive)
	if err != nil {
		return err
	}
	for _, f := range ar.Files {
		var days int
		name, age, aged := strings.Cut(f.Name, ", ")
		if f.Name = name; aged {
			if _, err := fmt.Sscanf(age, "%d days old", &days); err != nil {
				return fmt.Errorf("%s: %s: %w", archive, age, err)
			}
		}
		path := filepath.Join(home, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if strings.HasSuffix(f.Name, ".sql") {
			err = database(path+"ite", strings.ReplaceAll(string(f.Data), homeMark, home))
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if then := time.Now().AddDate(0, 0, -days); err == nil && days > 0 {
			err = os.Chtimes(path, then, then)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, f.Name, err)
		}
	}
	return nil
}

func database(path, statements string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("PRAGMA synchronous = OFF;" + statements)
	return err
}
