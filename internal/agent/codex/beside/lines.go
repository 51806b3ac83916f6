package beside

import (
	"bytes"
	"context"
	"iter"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
)

// linesIn are the lines of a session's file. An error comes last, with no line: io.EOF if that was its end.
func linesIn(ctx context.Context, path string) iter.Seq2[jsonl.Line, error] {
	return func(yield func(jsonl.Line, error) bool) {
		src, err := source.OpenIn(ctx, path)
		if err != nil {
			yield(jsonl.Line{}, err)
			return
		}
		defer src.Close()
		linesOf(ctx, src)(yield)
	}
}

// linesOf is linesIn for a file that is open.
func linesOf(ctx context.Context, src *source.Source) iter.Seq2[jsonl.Line, error] {
	return func(yield func(jsonl.Line, error) bool) {
		in, err := src.Reader(ctx)
		if err != nil {
			yield(jsonl.Line{}, err)
			return
		}
		defer in.Close()
		for r := jsonl.NewReader(in); err == nil; {
			var line jsonl.Line
			if line, err = r.Next(); !yield(line, err) {
				return
			}
		}
	}
}

// firstLine is the first of a session's lines; nil if it can't be read, which lint has reported.
func firstLine(lines iter.Seq2[jsonl.Line, error]) []byte {
	for line, err := range lines {
		if err == nil {
			return bytes.Clone(line.Raw)
		}
	}
	return nil
}
