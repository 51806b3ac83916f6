package relay

import (
	"os"
	"os/exec"

	"github.com/hist-cli/hist/internal/shim/front"
)

// On Windows the shim stays in front of the client and is the relay itself. So it is started here, where the relay is, and
// not in package front.
func init() {
	if p := front.Invoked(os.Args); p != nil {
		os.Exit(p.Main(os.Args[1:], func(client string, args []string) (int, error) {
			c := exec.Command(client, args...)
			c.Stderr = os.Stderr
			return stay(newAsker(), c, os.Stdin, os.Stdout)
		}))
	}
}
