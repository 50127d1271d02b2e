package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/bnctl/bnctl/problem"
)

// bucket is a server with the API of S3, by Amazon or another, or Google Cloud Storage.
type bucket struct {
	s      *Store
	scheme string
	client *minio.Client
	core   minio.Core
}

// parallelReads is how many files are read from a server at the same time.
const parallelReads = 64

// sumHeader is the name of the metadata with the SHA-256 of a file that bnctl wrote.
const sumHeader = "Bnctl-Sha256"

// idHeader is the name of the metadata with the id of the upload.
const idHeader = "Bnctl-Upload"

// bucketOf returns the client of a scheme.
func (s *Store) bucketOf(scheme string) (*bucket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[scheme]; b != nil {
		return b, nil
	}
	b := &bucket{s: s, scheme: scheme}
	endpoint, options, err := b.options()
	if err != nil {
		return nil, err
	}
	if b.client, err = minio.New(endpoint, options); err != nil {
		return nil, fmt.Errorf("%s:// %w", scheme, err)
	}
	b.client.SetAppInfo(userAgent, "1")
	b.core = minio.Core{Client: b.client}
	s.buckets[scheme] = b
	return b, nil
}

// options returns the endpoint and the credentials, by the environment and the files that other
// programs use.
func (b *bucket) options() (endpoint string, o *minio.Options, err error) {
	o = &minio.Options{Secure: true, Transport: b.s.transport(), MaxRetries: attempts}
	address := "https://s3.amazonaws.com"
	if b.scheme == "gs" {
		address = "https://storage.googleapis.com"
		if other := b.s.o.env("STORAGE_EMULATOR_HOST"); other != "" {
			address = other
		}
		o.BucketLookup, o.Region = minio.BucketLookupPath, "auto"
		b.googleCredentials(o)
	} else {
		if other := b.s.o.env("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"); other != "" {
			address, o.BucketLookup = other, minio.BucketLookupPath
		}
		o.Region = b.s.o.env("AWS_REGION", "AWS_DEFAULT_REGION")
		if o.Region == "" && o.BucketLookup == minio.BucketLookupPath {
			o.Region = "us-east-1" // else each bucket is asked for its region
		}
		o.Creds, o.Transport = b.amazonCredentials(), &conditional{o.Transport}
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := b.s.parseHTTP(address)
	if err != nil {
		return "", nil, err
	}
	o.Secure = u.Scheme == "https"
	return u.Host, o, nil
}

// amazonCredentials returns the credentials of the environment, of the shared file, or of the machine.
func (b *bucket) amazonCredentials() *credentials.Credentials {
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if role := b.s.o.env("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI"); role != "" || b.s.o.env("AWS_EC2_METADATA_DISABLED") == "false" {
		providers = append(providers, &credentials.IAM{})
	}
	return credentials.NewChainCredentials(providers) // without any of them requests are anonymous
}

// split returns the bucket and the key of a URL.
func (b *bucket) split(text string) (string, string, error) { return splitBucket(text) }

// stat implements server.
func (b *bucket) stat(ctx context.Context, text string) (*object, error) {
	name, key, err := b.split(text)
	if err != nil {
		return nil, err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return nil, about(text, &status{http.StatusNotFound, "there is no file in it"}) // unless it has some
	}
	info, err := b.client.StatObject(ctx, name, key, minio.StatObjectOptions{})
	if err != nil {
		return nil, about(text, b.explained(ctx, err))
	}
	return b.object(name, info), nil
}

// location is the bucket and the key of an object.
type location struct{ bucket, key string }

func (b *bucket) object(name string, info minio.ObjectInfo) *object {
	o := &object{url: b.scheme + "://" + name + "/" + info.Key, size: info.Size, etag: info.ETag, from: b,
		where: location{name, info.Key}}
	if sum := info.Metadata.Get("X-Amz-Meta-" + sumHeader); isSum(sum) {
		o.sum = sum
	}
	o.upload = info.Metadata.Get("X-Amz-Meta-" + idHeader)
	return o
}

// explained returns the reason of an error of the client, with advice, transient if it may go away.
func (b *bucket) explained(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return b.s.stalled(ctx, ctx.Err())
	}
	r := minio.ToErrorResponse(err)
	text := "the server answers " + shortened(strings.TrimSpace(r.Code+" "+r.Message))
	switch r.Code {
	case "":
		return b.s.transientError(ctx, withoutURL(err))
	case "NoSuchKey", "NoSuchBucket", "NoSuchUpload":
		return &status{http.StatusNotFound, text}
	case "PreconditionFailed":
		return errChanged
	case "ConditionalRequestConflict": // with another upload at the same time
		return &transient{errors.New(text), 0}
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired":
		return problem.Advise("renew the credentials", "%w", &status{http.StatusForbidden,
			"the credentials have expired: " + text})
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AllAccessDisabled":
		return problem.Advise(b.credentialsAdvice(), "%w", &status{http.StatusForbidden, text})
	}
	if r.StatusCode == http.StatusNotFound {
		return &status{r.StatusCode, text}
	}
	if r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests {
		return &transient{errors.New(text), 0}
	}
	return errors.New(text)
}

func (b *bucket) credentialsAdvice() string {
	if b.scheme == "gs" {
		return "give credentials in GOOGLE_APPLICATION_CREDENTIALS, or in GS_ACCESS_KEY_ID and " +
			"GS_SECRET_ACCESS_KEY"
	}
	return "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the file of AWS_PROFILE"
}

// open implements server.
func (b *bucket) open(ctx context.Context, o *object, offset int64) (*body, error) {
	at := o.where.(location)
	var options minio.GetObjectOptions
	if o.etag != "" {
		if err := options.SetMatchETag(o.etag); err != nil {
			return nil, err
		}
	}
	if offset > 0 {
		if err := options.SetRange(offset, 0); err != nil {
			return nil, err
		}
	}
	content, info, header, err := b.core.GetObject(ctx, at.bucket, at.key, options)
	if err != nil {
		return nil, b.explained(ctx, err)
	}
	if o.etag != "" && info.ETag != o.etag {
		content.Close()
		return nil, errChanged
	}
	start, _ := contentRange(header.Get("Content-Range"))
	return &body{content, start}, nil
}

// list implements server.
func (b *bucket) list(ctx context.Context, text string, add func(string, *object) bool) error {
	name, key, err := b.split(text)
	if err != nil {
		return err
	}
	if key != "" && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	options := minio.ListObjectsOptions{Prefix: key, Recursive: true}
	for info := range b.client.ListObjectsIter(ctx, name, options) {
		if info.Err != nil {
			return about(text, b.explained(ctx, info.Err))
		}
		rest := strings.TrimPrefix(info.Key, key)
		if rest == "" || strings.HasSuffix(rest, "/") {
			continue // the marker of a folder
		}
		if !add(rest, b.object(name, info)) {
			return nil
		}
	}
	return nil
}

// put implements server. The upload of a large file has several parts; the file appears with the last.
func (b *bucket) put(ctx context.Context, text string, u *upload) (string, error) {
	name, key, err := b.split(text)
	if err != nil {
		return "", err
	}
	if u.over != nil && b.scheme == "s3" {
		ctx = context.WithValue(ctx, conditionKey{}, *u.over)
	}
	// Each part has its MD5. Signatures of chunks, which minio-go would send over plain HTTP, are not
	// understood by all servers.
	info, err := b.client.FPutObject(ctx, name, key, u.path, minio.PutObjectOptions{
		ContentType: "application/octet-stream", SendContentMd5: true, DisableContentSha256: true,
		UserMetadata: map[string]string{sumHeader: u.sum, idHeader: u.id}})
	if err != nil {
		return "", about(text, b.explained(ctx, err))
	}
	return info.ETag, nil
}

// conditionKey is the key of an ETag in the context of an upload. The file is replaced if it has that
// ETag still; "": if it does not exist.
type conditionKey struct{}

// conditional adds the condition of an upload to the request that lets the file appear. minio-go has
// the condition for files of one part alone.
type conditional struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *conditional) RoundTrip(r *http.Request) (*http.Response, error) {
	etag, ok := r.Context().Value(conditionKey{}).(string)
	query := r.URL.Query()
	isWhole := r.Method == http.MethodPut && !query.Has("partNumber")
	isLast := r.Method == http.MethodPost && query.Has("uploadId")
	if ok && (isWhole || isLast) {
		r = r.Clone(r.Context())
		if etag == "" {
			r.Header.Set("If-None-Match", "*")
		} else {
			r.Header.Set("If-Match", `"`+etag+`"`)
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// probe implements server. It makes sure that the bucket can be reached.
func (b *bucket) probe(ctx context.Context, text string) error {
	name, key, err := b.split(text)
	if err != nil {
		return err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return problem.Advise("add the name of a file", "%s names a folder", text)
	}
	there, err := b.client.BucketExists(ctx, name)
	if err != nil {
		return about(text, b.explained(ctx, err))
	}
	if !there {
		return problem.Advise("make the bucket first", "%s: there is no bucket %s", text, name)
	}
	return nil
}

// readAll reads an object of a known size whole.
func (s *Store) readAll(o *object) (content []byte, err error) {
	err = s.retry(s.ctx, o.url, func() error {
		ctx, read, stop := s.newPatient(s.ctx)
		defer stop()
		p, err := o.from.open(ctx, o, 0)
		if err != nil {
			return s.stalled(ctx, err)
		}
		defer p.Close()
		content, err = io.ReadAll(io.LimitReader(read(p), o.size+1))
		if err != nil {
			return s.stalled(ctx, err)
		}
		if int64(len(content)) < o.size {
			return &transient{errCut, 0}
		}
		if int64(len(content)) > o.size {
			return errChanged
		}
		return nil
	})
	return content, err
}
