package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/inspect"
)

func cacheCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "cache", Usage: "show what hist lint's cache holds, or remove it", ArgsUsage: "[status | clean]",
		Description: "hist lint keeps its findings of a session until the session changes. clean removes them, for all versions of hist;\nall you lose is time.",
		Action:      e.cache,
	}
}

func (e *env) cache(c *cli.Context) error {
	what := c.Args().First()
	switch {
	case c.NArg() > 1:
		return usage("cache takes status or clean, one at a time")
	case what == "" || what == "status":
		s, err := inspect.CacheStats(Version())
		if err != nil {
			return err
		}
		if s.Files == 0 {
			fmt.Fprintf(e.out, "%s: the cache is empty\n", oneLine(s.Dir))
			return nil
		}
		fmt.Fprintf(e.out, "%s: %s in %s, with what this version of hist found in %s\n", oneLine(s.Dir), bytesOf(s.Bytes), count(s.Files, "file", "files"), count(s.Own, "session", "sessions"))
		return nil
	case what == "clean":
		bytes, err := inspect.CleanCache()
		if err != nil {
			return fmt.Errorf("removing the cache: %w", err)
		}
		if bytes == 0 {
			fmt.Fprintln(e.out, "the cache is empty: nothing was removed")
			return nil
		}
		fmt.Fprintf(e.out, "the cache was removed: %s\n", bytesOf(bytes))
		return nil
	}
	return usage("cache takes status or clean, not %q%s", what, meant(what, []string{"status", "clean"}))
}
