package lint_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hist-cli/hist/lint"
)

func ExampleFile() {
	res, err := lint.File(context.Background(), "../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl", lint.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Impact.AtLeast(lint.Loses) {
			fmt.Printf("line %d: %s [%s]\n", f.Pos.Line, f.Message, f.Rule.Name)
			fmt.Printf("impact %s; fix %s from %s\n", f.Impact, f.Fix, f.Source)
		}
	}
	// Output:
	// line 7: call call_1 (exec_command) has no output: the model is told it was aborted [call-without-output]
	// impact loses; fix recovered from item_completed CommandExecution on line 8
}
