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

// bucket is a server with the API of S3, at Amazon or elsewhere, or Google Cloud Storage.
type bucket struct {
	s      *Store
	scheme string
	client *minio.Client
	core   minio.Core
}

// parallelReads is the number of files that are read from a server at the same time.
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
	o = &minio.Options{Secure: true, Transport: b.s.transport(), MaxRetries: 1} // method retry repeats requests
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
			o.Region = "us-east-1" // otherwise the client asks for the region of each bucket
		}
		o.Creds, o.Transport = b.amazonCredentials(), &conditional{o.Transport, amazonCondition}
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
		return nil, withURL(text, &status{http.StatusNotFound, "there is no file in it"}) // the URL names a folder
	}
	ctx = withAnswer(ctx)
	info, err := b.client.StatObject(ctx, name, key, minio.StatObjectOptions{})
	if err != nil {
		return nil, withURL(text, b.explained(ctx, b.reason(ctx, err, func(ctx context.Context) error {
			var options minio.GetObjectOptions
			if err := options.SetRange(0, 0); err != nil {
				return err
			}
			content, _, _, err := b.core.GetObject(ctx, name, key, options)
			if err == nil {
				content.Close()
			}
			return err
		})))
	}
	o := b.object(name, info)
	if _, generation := answerOf(ctx); generation != "" {
		o.version = generation
	}
	return o, nil
}

// reason returns the error of a request with the reason of the server. Answers to HEAD have no body,
// so they have only a status, for example 400. In this case get sends a similar request, and its
// answer has the reason.
func (b *bucket) reason(ctx context.Context, err error, get func(context.Context) error) error {
	code := minio.ToErrorResponse(err).StatusCode
	if code != http.StatusBadRequest && code != http.StatusForbidden {
		return err
	}
	if more := get(ctx); minio.ToErrorResponse(more).Code != "" {
		return more
	}
	return err
}

// location is the bucket and the key of an object.
type location struct{ bucket, key string }

func (b *bucket) object(name string, info minio.ObjectInfo) *object {
	o := &object{url: b.scheme + "://" + name + "/" + info.Key, size: info.Size, etag: info.ETag,
		version: info.ETag, srv: b, data: location{name, info.Key}}
	if sum := info.Metadata.Get("X-Amz-Meta-" + sumHeader); isSum(sum) {
		o.sum = sum
	}
	o.upload = info.Metadata.Get("X-Amz-Meta-" + idHeader)
	return o
}

// explained returns the reason of an error of the client, with advice, as a *transient if a later
// attempt may succeed.
func (b *bucket) explained(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return b.s.stalled(ctx, ctx.Err())
	}
	r := minio.ToErrorResponse(err)
	text := "the server answers " + shortened(strings.TrimSpace(r.Code+" "+r.Message))
	switch r.Code {
	case "":
		return b.s.transientError(ctx, withoutURL(failureOf(ctx, err)))
	case "NoSuchKey", "NoSuchBucket", "NoSuchUpload":
		return &status{http.StatusNotFound, text}
	case "PreconditionFailed":
		return errChanged
	case "ConditionalRequestConflict": // another upload ran at the same time
		return &transient{errors.New(text), 0}
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired":
		return problem.Advise("renew the credentials", "%w", &status{http.StatusForbidden,
			"the credentials have expired: " + text})
	case "RequestTimeTooSkewed":
		return problem.Advise("set the clock of this machine", "%w", &status{http.StatusForbidden, text})
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AllAccessDisabled":
		return problem.Advise(b.credentialsAdvice(), "%w", &status{http.StatusForbidden, text})
	}
	if r.StatusCode == http.StatusNotFound {
		return &status{r.StatusCode, text}
	}
	isElsewhere := r.Code == "AuthorizationHeaderMalformed" || r.Code == "InvalidRegion"
	isElsewhere = isElsewhere && r.Region != "" // isElsewhere: the client retries in this region
	if after, _ := answerOf(ctx); isTransient(r.StatusCode) || isElsewhere {
		return &transient{errors.New(text), after}
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
	ctx, at := withAnswer(ctx), o.data.(location)
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
	for {
		before := options.StartAfter
		err := b.s.retry(ctx, text, func() error {
			ctx := withAnswer(ctx)
			for info := range b.client.ListObjectsIter(ctx, name, options) {
				if info.Err != nil {
					return withURL(text, b.explained(ctx, info.Err))
				}
				options.StartAfter = info.Key // continue after the last name of the attempt before
				rest := strings.TrimPrefix(info.Key, key)
				if rest == "" || strings.HasSuffix(rest, "/") {
					continue // the marker of a folder
				}
				if !add(rest, b.object(name, info)) {
					return nil
				}
			}
			return nil
		})
		if err == nil || options.StartAfter == before {
			return err
		}
	}
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
	ctx = withAnswer(ctx)
	there, err := b.client.BucketExists(ctx, name)
	if err != nil {
		return withURL(text, b.explained(ctx, b.reason(ctx, err, func(ctx context.Context) error {
			for info := range b.client.ListObjectsIter(ctx, name, minio.ListObjectsOptions{MaxKeys: 1}) {
				return info.Err
			}
			return nil
		})))
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
		p, err := o.srv.open(ctx, o, 0)
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
