// Command gjsonpipe is what hist lint is measured against: a program in the usual manner that reads a session line by
// line, checks each with gjson and unicode/utf8, gets the fields that rules need, and pairs calls with their outputs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// fields are those that the rules ask for of every line; there are thirty more that they ask for of some.
var fields = [...]string{"timestamp", "ordinal", "type", payloadType: "payload.type", callID: "payload.call_id", 5: "payload.id", 6: "payload.turn_id", 7: "payload.role"}

const (
	payloadType = 3
	callID      = 4
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	open, bad := map[string]bool{}, 0
	var got [len(fields)]gjson.Result
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if !gjson.ValidBytes(line) || !utf8.Valid(line) {
				bad++
			}
			for i, f := range fields {
				got[i] = gjson.GetBytes(line, f)
			}
			switch call := got[callID].String(); got[payloadType].String() {
			case "function_call", "custom_tool_call":
				open[call] = true
			case "function_call_output", "custom_tool_call_output":
				delete(open, call)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println(bad, len(open))
}
