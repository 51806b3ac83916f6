package cmd

import (
	"testing"

	"github.com/hist-cli/hist/repair"
)

// A placeholder stands for what is lost, and not for what another place gave back beside it.
func TestMendSaysWhatIsLost(t *testing.T) {
	p := &reportPrinter{}
	for want, e := range map[string]repair.Entry{
		"its content is lost; a placeholder tells the model so":                                     {Fix: "stand-in", Lost: 1},
		"a part of it comes from logs_2.sqlite, the rest is lost; a placeholder tells the model so": {Fix: "stand-in", Lost: 1, From: "logs_2.sqlite"},
		"recovered from logs_2.sqlite":                                                              {Fix: "recovered", From: "logs_2.sqlite"},
		"what can be read of it is kept":                                                            {Fix: "recovered"},
		"recovered from the file's name; a placeholder stands for what can't be known or read":      {Fix: "stand-in", From: "the file's name"},
		"recovered from line 7; the rest is taken out of the session, and kept in the run's record": {Fix: "set-aside", From: "line 7"},
	} {
		if got := p.mend(&e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
