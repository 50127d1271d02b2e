package store

import (
	"net/http"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// googleCredentials sets the credentials for Google Cloud Storage: keys of its HMAC kind, or a token.
func (b *bucket) googleCredentials(o *minio.Options) {
	id, secret := b.s.o.env("GS_ACCESS_KEY_ID"), b.s.o.env("GS_SECRET_ACCESS_KEY")
	if id != "" && secret != "" {
		o.Creds = credentials.NewStaticV4(id, secret, "")
		return
	}
	o.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	o.Transport = &bearer{o.Transport, b.s}
}

// bearer adds a token to requests.
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
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return t.RoundTripper.RoundTrip(r)
}
