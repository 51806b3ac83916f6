package work

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
	"strings"

	"github.com/hist-cli/hist/fleet/store"
)

// Metadata keys by which a repair recognises what it wrote: madeFrom holds the ETag of the object that the repaired one was made
// from, madeBy the version and options of the hist that made it, and madeSum the MD5 of the repaired one. Without the sum, an object
// that somebody has written to since would pass for ours: programs that mount a bucket as a disk keep an object's metadata when they
// change it.
const (
	madeFrom = "Hist-Repaired-From"
	madeBy   = "Hist-Repaired-By"
	madeSum  = "Hist-Repaired-Md5"
)

// marks returns the metadata of a repaired object that is in a file.
func (l *Linter) marks(from, path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum, err := md5Of(f)
	return map[string]string{madeFrom: from, madeBy: l.by(), madeSum: sum}, err
}

// by is what a repair notes of the hist that made it: another version or other options may repair more.
func (l *Linter) by() string { return l.Version + " " + l.options.Hash() }

// madeOf returns the ETag from which a repair made an object, given its metadata; "" if it is not, or no longer, what a repair
// wrote.
func madeOf(ctx context.Context, s store.Store, o store.Object, meta map[string]string) (from string, err error) {
	from, sum := metaOf(meta, madeFrom), metaOf(meta, madeSum)
	if from == "" || sum == "" {
		return "", nil
	}
	if o.ETag == sum { // as it is in most buckets
		return from, nil
	}
	body, err := s.Get(ctx, o.Key, o.ETag)
	if err != nil {
		return "", err
	}
	defer body.Close()
	if now, err := md5Of(body); err != nil || now != sum {
		return "", err
	}
	return from, nil
}

func metaOf(meta map[string]string, name string) string {
	for k, v := range meta {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

func md5Of(r io.Reader) (string, error) {
	sum := md5.New()
	_, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), err
}
