// Command gjsonpipe is what hist lint is compared with: a program of the usual kind that reads a session line by line, checks
// each line with gjson and unicode/utf8, gets the fields that rules need, and pairs calls with their outputs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/tidwall/gjson"
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
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if !gjson.ValidBytes(line) || !utf8.Valid(line) {
				bad++
			}
			kind, call := gjson.GetBytes(line, "payload.type").String(), gjson.GetBytes(line, "payload.call_id").String()
			gjson.GetBytes(line, "type")
			gjson.GetBytes(line, "payload.turn_id")
			switch kind {
			case "function_call":
				open[call] = true
			case "function_call_output":
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
