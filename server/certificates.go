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

// certificates are what protects connections, from files that may change.
type certificates struct {
	Security
	note func(format string, args ...any)
	mu   sync.Mutex
	now  *tls.Config
	stamps
}

// protect returns how connections are protected, each with the certificates
// that are in the files when it begins; nil: they are not. ends says until when
// the server's is valid.
func (s Security) protect(note func(string, ...any)) (config *tls.Config, ends func() time.Time, err error) {
	if s.Certificate == "" {
		return nil, nil, nil
	}
	c := &certificates{Security: s, note: note, stamps: stamps{paths: []string{s.Certificate, s.Key}}}
	if s.Clients != "" {
		c.paths = append(c.paths, s.Clients)
	}
	c.changed()
	if c.now, err = s.tls(); err != nil {
		return nil, nil, err
	}
	return &tls.Config{GetConfigForClient: c.forClient, MinVersion: tls.VersionTLS12}, c.ends, nil
}

// ends says until when the certificate of the server is valid.
func (c *certificates) ends() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.Certificates[0].Leaf.NotAfter
}

// forClient reads files that have changed. What cannot be read, or does not
// fit, leaves all as it was.
func (c *certificates) forClient(*tls.ClientHelloInfo) (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed() {
		return c.now, nil
	}
	now, err := c.tls()
	if err != nil {
		c.note("certificates stay as they were: %v", err)
		return c.now, nil
	}
	c.now = now
	c.note("certificates were read again")
	return now, nil
}

// tls returns what the files have.
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
		return nil, errors.New(s.Clients + ": there is no certificate in it")
	}
	return c, nil
}
