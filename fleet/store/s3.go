package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// tries is how often a request is tried before the store counts as unavailable.
const tries = 5

// maxPut is the longest object that S3 accepts in one request. A condition applies to one request only.
const maxPut = 5 << 30

// bucket is a bucket, or the part of one below a prefix. It uses the library's plain requests rather than its file-like
// reader, which makes two requests for every object.
type bucket struct {
	core   minio.Core
	name   string
	prefix string // "" or with a slash at its end
}

func openS3(name, prefix string, getenv func(string) string) (Store, error) {
	if name == "" {
		return nil, errors.New("the address names no bucket: want s3://BUCKET/PREFIX")
	}
	host, secure := "s3.amazonaws.com", true
	endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"))
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("AWS_ENDPOINT_URL %q is not a URL: want https://HOST", endpoint)
		}
		host, secure = u.Host, u.Scheme == "https"
	}
	region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	core, err := minio.NewCore(host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: http.DefaultClient},
		}),
		Secure: secure, Region: region, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("s3://%s: %w", name, err)
	}
	if err := s3utils.CheckValidBucketName(name); err != nil {
		return nil, fmt.Errorf("s3://%s: %w", name, err)
	}
	b := &bucket{core: *core, name: name}
	if prefix != "" {
		b.prefix = prefix + "/"
	}
	return b, nil
}

func (b *bucket) URL() string { return "s3://" + strings.TrimSuffix(b.name+"/"+b.prefix, "/") }

func (b *bucket) List(ctx context.Context, prefix string, each func(Object) error) error {
	listing := b.core.Client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true})
	for info := range listing {
		if info.Err != nil {
			err := explain(info.Err)
			if errors.Is(err, ErrGone) && !errors.Is(err, ErrNoStore) {
				err = info.Err // a listing is not about one object: some servers answer so if they do not know the credentials
			}
			return fmt.Errorf("listing %s: %w", b.URL(), err)
		}
		err := each(Object{
			Key: strings.TrimPrefix(info.Key, b.prefix), ETag: strings.Trim(info.ETag, `"`), Size: info.Size, Modified: info.LastModified,
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (b *bucket) Head(ctx context.Context, key string) (Object, map[string]string, error) {
	info, err := b.core.Client.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return Object{}, nil, explain(err)
	}
	return Object{key, info.ETag, info.Size, info.LastModified}, info.UserMetadata, nil
}

func (b *bucket) Get(ctx context.Context, key, etag string) (io.ReadCloser, error) {
	r := &resuming{ctx: ctx, open: func(from int64) (io.ReadCloser, string, error) { return b.get(ctx, key, etag, from) }}
	if err := r.reopen(); err != nil {
		return nil, err
	}
	return r, nil
}

// get reads an object from an offset on.
func (b *bucket) get(ctx context.Context, key, etag string, from int64) (io.ReadCloser, string, error) {
	var opts minio.GetObjectOptions
	if etag != "" {
		if err := opts.SetMatchETag(etag); err != nil {
			return nil, "", err
		}
	}
	if from > 0 {
		if err := opts.SetRange(from, 0); err != nil {
			return nil, "", err
		}
	}
	body, info, _, err := b.core.GetObject(ctx, b.name, b.prefix+key, opts)
	if err != nil {
		return nil, "", explain(err)
	}
	return body, info.ETag, nil
}

func (b *bucket) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition, meta map[string]string) error {
	if size > maxPut {
		return fmt.Errorf("%s: %d bytes are more than S3 accepts in one conditional request (5 GiB)", key, size)
	}
	opts := minio.PutObjectOptions{UserMetadata: meta, DisableMultipart: true}
	switch {
	case cond.Absent:
		opts.SetMatchETagExcept("*")
	case cond.Match != "":
		opts.SetMatchETag(cond.Match)
	}
	_, err := b.core.PutObject(ctx, b.name, b.prefix+key, body, size, "", "", opts)
	return explain(err)
}

// explain wraps an error of the S3 client into the error of this package that it means.
func explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	answer := minio.ToErrorResponse(err)
	kind := ErrUnavailable
	switch {
	case answer.StatusCode == http.StatusPreconditionFailed, answer.Code == "ConditionalRequestConflict":
		kind = ErrChanged
	case answer.Code == "NoSuchBucket":
		kind = ErrNoStore
	case answer.Code == "InvalidAccessKeyId": // with whatever status
		kind = ErrDenied
	case answer.StatusCode == http.StatusNotFound:
		kind = ErrGone
	case answer.StatusCode == http.StatusForbidden, answer.StatusCode == http.StatusUnauthorized:
		kind = ErrDenied
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		kind = ErrChanged
	case answer.StatusCode >= 400 && answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
