package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDatabasesFollowConfigAndEnvironment(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	if got := Databases(home); got != home {
		t.Errorf("default: %s", got)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("sqlite_home = \"db\"\n[features]\nplugins = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := Databases(home), filepath.Join(home, "db"); got != want {
		t.Errorf("config: %s, want %s", got, want)
	}
	t.Setenv("CODEX_SQLITE_HOME", "/elsewhere")
	if got := Databases(home); got != "/elsewhere" {
		t.Errorf("environment: %s", got)
	}
}
