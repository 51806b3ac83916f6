package repair

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

func TestTmp(t *testing.T) {
	files, _ := filepath.Glob("../fixtures/codex/*/*/*.jsonl")
	rng := rand.New(rand.NewSource(7))
	bad := map[string]int{}
	for n := 0; n < 20000; n++ {
		f := files[rng.Intn(len(files))]
		b, _ := os.ReadFile(f)
		var desc []string
		for k := 0; k <= rng.Intn(4); k++ {
			lines := bytes.SplitAfter(b, []byte("\n"))
			i := rng.Intn(len(lines))
			switch op := rng.Intn(12); op {
			case 0:
				lines = append(lines[:i:i], lines[i+1:]...)
			case 1:
				lines[i] = bytes.TrimSuffix(lines[i], []byte("\n"))
			case 2:
				if len(lines[i]) > 2 { p := rng.Intn(len(lines[i])); lines[i] = lines[i][:p:p] }
			case 3:
				if len(lines[i]) > 2 { p := rng.Intn(len(lines[i])); lines[i] = append(append(append([]byte{}, lines[i][:p]...), byte(rng.Intn(256))), lines[i][p:]...) }
			case 4:
				lines[i] = append(append([]byte{}, lines[i]...), lines[i]...)
			case 5:
				j := rng.Intn(len(lines)); lines[i], lines[j] = lines[j], lines[i]
			case 6:
				lines[i] = append([]byte("garbage here\n"), lines[i]...)
			case 7:
				if len(lines[i]) > 2 { p := rng.Intn(len(lines[i])); lines[i] = append(append(append([]byte{}, lines[i][:p]...), '\n'), lines[i][p:]...) }
			case 8:
				if len(lines[i]) > 2 { p := rng.Intn(len(lines[i])); lines[i] = append(append(append([]byte{}, lines[i][:p]...), make([]byte, 5)...), lines[i][p:]...) }
			case 9:
				lines[i] = bytes.ReplaceAll(lines[i], []byte("_call_output"), []byte("_call"))
			case 10:
				lines[i] = bytes.Replace(lines[i], []byte(`"ordinal":`), []byte(`"ordinal":1`), 1)
			case 11:
				b2 := bytes.Join(lines, nil); p := rng.Intn(len(b2) + 1); lines = [][]byte{b2[:p]}
			}
			b = bytes.Join(lines, nil)
			if len(b) == 0 { break }
		}
		_ = desc
		var out bytes.Buffer
		src, err := source.Stdin(bytes.NewReader(b), "")
		if err != nil { t.Fatal(err) }
		name := NameOf(f, true)
		rep, err := Do(context.Background(), Job{Source: src, Lint: lint.Options{Name: name}, Mode: ToStream, Stream: &out})
		src.Close()
		if err != nil {
			k := err.Error(); if len(k) > 110 { k = k[:110] }
			bad[k]++
			if bad[k] == 1 { os.WriteFile(fmt.Sprintf("/work/scratch-m/bad%d-%s", len(bad), filepath.Base(f)), b, 0o644) ; fmt.Println(len(bad), err) }
			continue
		}
		_ = rep
		src, _ = source.Stdin(bytes.NewReader(out.Bytes()), "")
		var out2 bytes.Buffer
		_, err = Do(context.Background(), Job{Source: src, Lint: lint.Options{Name: name}, Mode: ToStream, Stream: &out2})
		src.Close()
		if err != nil || !bytes.Equal(out.Bytes(), out2.Bytes()) { bad["idem"]++; if bad["idem"] == 1 { os.WriteFile("/work/scratch-m/idem-"+filepath.Base(f), b, 0o644); fmt.Println("IDEM", err) } }
	}
	fmt.Println(bad)
}
