package repair_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/hist-cli/hist/repair"
)

func ExampleDo() {
	var mended bytes.Buffer
	rep, err := repair.Do(context.Background(), repair.Job{
		Path: "../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl", Mode: repair.ToStream, Stream: &mended,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s from %s\n", rep.Edits[0].Rule, rep.Edits[0].Fix, rep.Edits[0].From)
	fmt.Println(rep.History.Words())
	// Output:
	// call-without-output: recovered from item_completed CommandExecution on line 8
	// the model will have all 5 known items of the history; without the repair it has 4
}
