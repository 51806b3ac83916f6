// Package store gives access to where a fleet's sessions are: a bucket that speaks S3, or a directory.
//
// In: a URL, keys and conditions. Out: listings, bytes, and writes that happen only if the object is still the one that
// was read. Never here: what a session means.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrChanged says that the object is not, or no longer, the one that the condition names.
	ErrChanged = errors.New("the object has changed since it was listed")
	// ErrGone says that there is no such object.
	ErrGone = errors.New("the object is gone")
	// ErrNoStore says that there is no such bucket or directory. It is also an ErrGone, because no object is there.
	ErrNoStore error = noStore{}
	// ErrDenied says that the store does not allow it with these credentials.
	ErrDenied = errors.New("access denied")
	// ErrUnavailable says that the store did not answer, or broke off, at every try.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrUnconditional says that the store ignores conditions, so that a repair could overwrite what somebody else wrote.
	ErrUnconditional = errors.New("the store ignores the conditions of a write (If-Match), so nothing is repaired in it; write copies elsewhere with --to")
)

type noStore struct{}

func (noStore) Error() string { return "there is no such bucket or directory" }

// Is makes errors.Is(ErrNoStore, ErrGone) true.
func (noStore) Is(target error) bool { return target == ErrGone }

// Object is an object as a listing describes it.
type Object struct {
	Key      string
	ETag     string // without quotes
	Size     int64  // bytes as stored
	Modified time.Time
}

// Condition is what must be true for a Put; the zero value demands nothing.
type Condition struct {
	Match  string // the object has this ETag
	Absent bool   // there is no such object
}

// Store holds objects by key. Its methods may be called from several goroutines at once. Keys are relative to the
// store's URL, with slashes as separators.
type Store interface {
	// URL returns the store's address in the form that Open reads.
	URL() string
	// List calls each for all objects whose keys begin with prefix, and stops at its error. Their order is the store's: a bucket's
	// is that of the keys, a directory's goes folder by folder.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Get reads an object from its start. If etag is not "" and the object has another, the error is ErrChanged, also in the
	// middle of the object.
	Get(ctx context.Context, key, etag string) (io.ReadCloser, error)
	// Head describes an object without reading it, and returns the metadata that Put was given.
	Head(ctx context.Context, key string) (Object, map[string]string, error)
	// Put writes an object completely or not at all. The error is ErrChanged if the condition is not met.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition, meta map[string]string) error
}

// Open returns the store at an address: s3://BUCKET/PREFIX, or a directory's path. The S3 service and the credentials are
// taken from the environment (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID …), as in other programs of its kind.
func Open(address string) (Store, error) {
	if !strings.Contains(address, "://") {
		return openDir(address)
	}
	scheme, rest, _ := strings.Cut(address, "://")
	switch strings.ToLower(scheme) {
	case "s3": // a prefix is not URL-encoded: %, ? and # in it stand for themselves
		name, prefix, _ := strings.Cut(rest, "/")
		return openS3(name, strings.Trim(prefix, "/"), os.Getenv)
	case "file":
		u, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("%q is not the address of a store: %w", address, err)
		}
		return openDir(u.Path)
	}
	return nil, fmt.Errorf("%q: want s3://BUCKET/PREFIX or a directory", address)
}

// Probe finds out whether a store respects conditions, by writes that must fail. It leaves one small object, key, behind.
func Probe(ctx context.Context, s Store, key string) error {
	text := "written by hist-fleet to find out whether this store respects conditions; it may be deleted\n"
	write := func(cond Condition) error {
		return s.Put(ctx, key, strings.NewReader(text), int64(len(text)), cond, nil)
	}
	if err := write(Condition{}); err != nil {
		return fmt.Errorf("probing %s: %w", s.URL(), err)
	}
	for _, cond := range []Condition{{Match: "00000000000000000000000000000000"}, {Absent: true}} {
		switch err := write(cond); {
		case err == nil:
			return fmt.Errorf("%s: %w", s.URL(), ErrUnconditional)
		case !errors.Is(err, ErrChanged):
			return fmt.Errorf("probing %s: %w", s.URL(), err)
		}
	}
	return nil
}
