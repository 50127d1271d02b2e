package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificates reads the TLS configuration from files that may change.
type certificates struct {
	Security
	note    func(format string, args ...any)
	mu      sync.Mutex
	current *tls.Config
	stamps
}

// serverTLS returns the TLS configuration of the server, nil without TLS. Each connection uses the
// certificates that are in the files when it begins. expiry returns when the server's certificate
// expires.
func (s Security) serverTLS(note func(string, ...any)) (
	config *tls.Config, expiry func() time.Time, err error) {
	if s.Certificate == "" {
		return nil, nil, nil
	}
	c := &certificates{Security: s, note: note, stamps: stamps{paths: []string{s.Certificate, s.Key}}}
	if s.Clients != "" {
		c.paths = append(c.paths, s.Clients)
	}
	c.changed()
	if c.current, err = s.tls(); err != nil {
		return nil, nil, err
	}
	return &tls.Config{GetConfigForClient: c.forClient, MinVersion: tls.VersionTLS12}, c.expiry, nil
}

// expiry returns when the certificate of the server expires.
func (c *certificates) expiry() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current.Certificates[0].Leaf.NotAfter
}

// forClient returns the TLS configuration for a new connection. It first reads the files again if they have
// changed. If that fails, the previous certificates remain in use.
func (c *certificates) forClient(*tls.ClientHelloInfo) (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed() {
		return c.current, nil
	}
	now, err := c.tls()
	if err != nil {
		c.note("certificates stay as they were: %v", err)
		return c.current, nil
	}
	c.current = now
	c.note("certificates were read again")
	return now, nil
}

// tls reads the certificates from their files.
func (s *Security) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.Certificate, s.Key)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", s.Certificate, s.Key, err)
	}
	if leaf := pair.Leaf; time.Now().After(leaf.NotAfter) || time.Now().Before(leaf.NotBefore) {
		return nil, fmt.Errorf("%s: the certificate is valid from %s to %s only", s.Certificate,
			leaf.NotBefore.Format(time.DateTime), leaf.NotAfter.Format(time.DateTime))
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}
	if s.Clients == "" {
		return c, nil
	}
	pem, err := os.ReadFile(s.Clients)
	if err != nil {
		return nil, err
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New(s.Clients + ": it contains no certificate")
	}
	return c, nil
}
