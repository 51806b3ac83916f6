package front

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/disk"
)

// A switch is off however it is spelled, and a word that is not known never repairs.
func TestModes(t *testing.T) {
	for value, want := range map[string]Mode{
		"": Repair, "repair": Repair, "Repair": Repair, "check": Check, "CHECK": Check,
		"off": Off, "OFF": Off, "Off": Off, "0": Off, "no": Off, "NO": Off, "false": Off, "False": Off,
		"of": Check, "disabled": Check, "repair ": Check, "1": Check,
	} {
		t.Setenv(ModeVar, value)
		known := slices.Contains([]string{"", "repair", "check", "off", "0", "no", "false"}, strings.ToLower(value))
		warnings := Warnings()
		if ModeOf() != want || (len(warnings) == 0) != known || !known && !strings.Contains(warnings[0], value+" is not") {
			t.Errorf("%q: %s, %q", value, ModeOf(), warnings)
		}
		if asked := slices.Contains(CheckCommand("argv"), "--repair"); asked != (want == Repair) {
			t.Errorf("%q: a repair is asked for: %v", value, asked)
		}
	}
}

// hist gets a limit that it takes, whatever the environment says.
func TestTimeouts(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 2 * time.Second, "500ms": 500 * time.Millisecond, "1m": time.Minute,
		"5": 2 * time.Second, "0": 2 * time.Second, "0s": 2 * time.Second, "-1s": 2 * time.Second, "soon": 2 * time.Second,
	} {
		t.Setenv(TimeoutVar, value)
		known := value == "" || value == "500ms" || value == "1m"
		asked := CheckCommand("argv")
		given, err := time.ParseDuration(asked[slices.Index(asked, "--timeout")+1])
		if Timeout() != want || given != want || err != nil || (len(Warnings()) == 0) != known {
			t.Errorf("%q: %s, hist gets %s (%v), %q", value, Timeout(), given, err, Warnings())
		}
	}
}

// A lost thread is resumed only by a word that says so.
func TestRejoins(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "0": false, "no": false, "False": false, "off": false, "1": true, "yes": true, "TRUE": true, "on": true,
		"2": false, "ja": false, "1 ": false,
	} {
		t.Setenv(RejoinVar, value)
		known := !slices.Contains([]string{"2", "ja", "1 "}, value)
		if warnings := Warnings(); Rejoins() != want || (len(warnings) == 0) != known || !known && !strings.Contains(warnings[0], value+" is neither") {
			t.Errorf("%q: %v, %q", value, Rejoins(), warnings)
		}
	}
}

func TestKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := disk.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := Keep(true); err != nil || !Kept() || !Rejoins() {
		t.Errorf("kept: %v, %v, %v", err, Kept(), Rejoins())
	}
	if _, err := os.Stat(filepath.Join(dir, "shim-rejoin")); err != nil {
		t.Error(err)
	}
	t.Setenv(RejoinVar, "0")
	if Rejoins() {
		t.Error("the environment goes before")
	}
	if err := errors.Join(Keep(false), Keep(false)); err != nil || Kept() {
		t.Errorf("taken back: %v, %v", err, Kept())
	}
}
