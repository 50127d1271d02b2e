package store

import (
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// googleCredentials sets the credentials for Google Cloud Storage: a pair of HMAC keys, or a token.
func (b *bucket) googleCredentials(o *minio.Options) {
	id, secret := b.s.o.env("GS_ACCESS_KEY_ID"), b.s.o.env("GS_SECRET_ACCESS_KEY")
	if id != "" && secret != "" {
		o.Creds = credentials.NewStaticV4(id, secret, "")
		return
	}
	o.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	o.Transport = &conditional{&bearer{o.Transport, b.s}, googleCondition}
}

// googleCondition sets the condition that the stored file has a generation. With "" the condition is that no
// file is stored.
func googleCondition(h http.Header, generation string) {
	if generation == "" {
		generation = "0"
	}
	h.Set("X-Goog-If-Generation-Match", generation)
}

// bearer adds a token to requests. It also gives Amazon's headers the names of Google, which requests with a
// token must have.
type bearer struct {
	http.RoundTripper
	s *Store
}

// RoundTrip implements http.RoundTripper.
func (t *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.s.googleToken(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Del("X-Amz-Content-Sha256")
	r.Header.Del("X-Amz-Date")
	renameHeaders(r.Header, "X-Amz-", "X-Goog-")
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		renameHeaders(response.Header, "X-Goog-Meta-", "X-Amz-Meta-")
	}
	return response, err
}

// renameHeaders replaces the beginning of the names of headers.
func renameHeaders(h http.Header, oldPrefix, newPrefix string) {
	for name, values := range h {
		if rest, ok := strings.CutPrefix(name, oldPrefix); ok {
			delete(h, name)
			h[newPrefix+rest] = values
		}
	}
}
