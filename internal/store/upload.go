package store

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/minio/minio-go/v7"
)

// partSize is the minimum size of the parts of a large file, in bytes. S3 accepts at most maxParts parts.
const (
	partSize = 16 << 20
	maxParts = 10_000
)

// parallelParts is the number of parts that are sent at the same time.
const parallelParts = 4

// put implements server. The upload of a large file has several parts; the file appears with the last
// request. Google Cloud Storage has no conditions for uploads in parts, and accepts large files whole.
func (b *bucket) put(ctx context.Context, text string, u *upload) (version string, err error) {
	name, key, err := b.split(text)
	if err != nil {
		return "", err
	}
	f, err := os.Open(u.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	ctx = withAnswer(ctx)
	if u.etag != nil {
		ctx = context.WithValue(ctx, conditionKey{}, *u.etag)
	}
	// Requests have the MD5 of their content. Signatures of chunks, which minio-go would send over plain
	// HTTP, are not understood by all servers.
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true,
		UserMetadata: map[string]string{sumHeader: u.sum, idHeader: u.id}}
	var done minio.UploadInfo
	if b.scheme == "gs" || info.Size() <= partSize {
		var sum string
		if sum, err = md5Of(f, 0, info.Size()); err != nil {
			return "", err
		}
		content := io.NewSectionReader(f, 0, info.Size())
		done, err = b.core.PutObject(ctx, name, key, content, info.Size(), sum, "", o)
	} else {
		done, err = b.putParts(ctx, location{name, key}, f, info.Size(), o)
	}
	if err != nil {
		return "", withURL(text, b.explained(ctx, err))
	}
	if _, generation := answerOf(ctx); generation != "" {
		return generation, nil
	}
	return done.ETag, nil
}

// putParts uploads a file in parts. Each part has several attempts.
func (b *bucket) putParts(ctx context.Context, loc location, f *os.File, size int64,
	o minio.PutObjectOptions) (done minio.UploadInfo, err error) {
	id, err := b.core.NewMultipartUpload(ctx, loc.bucket, loc.key, o)
	if err != nil {
		return done, err
	}
	length := max(partSize, (size+maxParts-1)/maxParts)
	sent := make([]minio.CompletePart, (size+length-1)/length)
	failed := make([]error, len(sent))
	slots := make(chan struct{}, parallelParts)
	var wait sync.WaitGroup
	for i := range sent {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			offset := int64(i) * length
			sent[i], failed[i] = b.putPart(ctx, loc, id, i+1, f, offset, min(length, size-offset))
		})
	}
	wait.Wait()
	for _, failure := range failed {
		if err == nil {
			err = failure
		}
	}
	if err == nil {
		done, err = b.core.CompleteMultipartUpload(ctx, loc.bucket, loc.key, id, sent, o)
	}
	if err != nil { // otherwise the server keeps the parts, and the user pays for them
		b.core.AbortMultipartUpload(context.WithoutCancel(ctx), loc.bucket, loc.key,
			id) //nolint:errcheck // may fail
	}
	return done, err
}

// putPart uploads part number n of an upload: length bytes of f from an offset on.
func (b *bucket) putPart(ctx context.Context, loc location, id string, n int, f io.ReaderAt,
	offset, length int64) (minio.CompletePart, error) {
	var sent minio.ObjectPart
	sum, err := md5Of(f, offset, length)
	if err != nil {
		return minio.CompletePart{}, err
	}
	err = b.s.retry(ctx, b.scheme+"://"+loc.bucket+"/"+loc.key, func() error {
		ctx := withAnswer(ctx)
		content := io.NewSectionReader(f, offset, length)
		sent, err = b.core.PutObjectPart(ctx, loc.bucket, loc.key, id, n, content, length,
			minio.PutObjectPartOptions{Md5Base64: sum, DisableContentSha256: true})
		if err != nil {
			return b.explained(ctx, err)
		}
		return nil
	})
	return minio.CompletePart{PartNumber: n, ETag: sent.ETag}, err
}

// md5Of returns the MD5 of a part of a file as the header Content-MD5 has it.
func md5Of(f io.ReaderAt, offset, length int64) (string, error) {
	h := md5.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, offset, length)); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// conditionKey is the key of a version in the context of an upload. The upload replaces the file only
// if the file still has that version, or, for "", only if it does not exist.
type conditionKey struct{}

// conditional adds the condition of an upload to the request that completes the file. minio-go can send the
// condition only for files of one part.
type conditional struct {
	http.RoundTripper
	set func(h http.Header, version string)
}

// amazonCondition sets the condition that the stored file has an ETag. With "" the condition is that no file
// is stored.
func amazonCondition(h http.Header, etag string) {
	if etag == "" {
		h.Set("If-None-Match", "*")
		return
	}
	h.Set("If-Match", `"`+etag+`"`)
}

// RoundTrip implements http.RoundTripper.
func (t *conditional) RoundTrip(r *http.Request) (*http.Response, error) {
	version, ok := r.Context().Value(conditionKey{}).(string)
	query := r.URL.Query()
	isWhole := r.Method == http.MethodPut && !query.Has("partNumber")
	isLast := r.Method == http.MethodPost && query.Has("uploadId")
	if ok && (isWhole || isLast) {
		r = r.Clone(r.Context())
		t.set(r.Header, version)
	}
	return t.RoundTripper.RoundTrip(r)
}
