package store

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// account is the file of a service account of Google Cloud.
type account struct {
	Type     string `json:"type"`
	Email    string `json:"client_email"`
	Key      string `json:"private_key"`
	TokenURI string `json:"token_uri"`
}

// googleTokens keeps the token of a service account until shortly before it expires.
type googleTokens struct {
	mu      sync.Mutex
	token   string
	expires time.Time
}

// googleToken returns GOOGLE_OAUTH_ACCESS_TOKEN, a token of the service account in the file
// GOOGLE_APPLICATION_CREDENTIALS, or "".
func (s *Store) googleToken(ctx context.Context) (string, error) {
	if token := s.o.env("GOOGLE_OAUTH_ACCESS_TOKEN"); token != "" {
		return token, nil
	}
	file := s.o.env("GOOGLE_APPLICATION_CREDENTIALS")
	if file == "" {
		return "", nil
	}
	t := &s.google
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.expires) {
		return t.token, nil
	}
	b, err := regular.Read(file, 1<<16)
	if err != nil {
		return "", fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS: %w", err)
	}
	var a account
	if json.Unmarshal(b, &a) != nil || a.Type != "service_account" {
		return "", problem.Advise("use the key file of a service account, or a token in GOOGLE_OAUTH_ACCESS_TOKEN",
			"%s is not the file of a service account", file)
	}
	if err := s.askToken(ctx, a); err != nil {
		return "", fmt.Errorf("a token for %s: %w", a.Email, err)
	}
	return t.token, nil
}

// askToken exchanges a signed claim for a token, RFC 7523.
func (s *Store) askToken(ctx context.Context, a account) error {
	claim, err := a.sign(time.Now())
	if err != nil {
		return err
	}
	at, err := s.parseHTTP(a.TokenURI)
	if err != nil {
		return err
	}
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {claim}}
	ctx = context.WithValue(ctx, answerKey{}, nil) // only answers about the file are recorded
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return withoutURL(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := s.web.noRedirect.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	var got struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
		Reason  string `json:"error_description"`
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	if err != nil {
		return err
	}
	parsed := json.Unmarshal(b, &got)
	switch {
	case got.Reason != "":
		return problem.Advise("check the clock of this machine, and the key in the Cloud Console",
			"the server answers %d %s", answer.StatusCode, shortened(got.Reason))
	case answer.StatusCode != http.StatusOK:
		return statusError(answer)
	case parsed != nil || got.Token == "":
		return errors.New("the answer of the server has no token")
	}
	const early = 60 // a token is replaced this number of seconds before it expires
	s.google.token = got.Token
	s.google.expires = time.Now().Add(time.Duration(max(0, got.Seconds-early)) * time.Second)
	return nil
}

// sign returns a claim to use storage, signed with the key of the account.
func (a *account) sign(now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(a.Key))
	if block == nil {
		return "", errors.New("its private key is not in PEM form")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(*rsa.PrivateKey)
	if err != nil || !ok {
		return "", errors.New("its private key is not an RSA key in PKCS 8")
	}
	claims, err := json.Marshal(map[string]any{"iss": a.Email, "aud": a.TokenURI, "iat": now.Unix(),
		"scope": "https://www.googleapis.com/auth/devstorage.read_write", "exp": now.Add(time.Hour).Unix()})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}
