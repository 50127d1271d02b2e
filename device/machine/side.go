package machine

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/bnctl/bnctl/problem"
)

// The names of files in the folder of a side.
const (
	authorityFile   = "ca.crt"
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
	revokedFile     = "revoked"
)

// Side is one side of connections: its certificate, and the certificates that it trusts.
type Side struct {
	folder string
	role   Role

	mu    sync.Mutex // guards the fields below
	files *files
	state string // result of stateOfFiles when the files were read
}

// files are the contents of a folder.
type files struct {
	certificate tls.Certificate
	authorities *x509.CertPool
	revoked     map[string]bool
}

// Open reads the folder of a side. The error is a *problem.Error if the files are missing or do not
// belong together, or if the certificate has another role, is not yet valid or has expired.
func Open(folder string, r Role) (*Side, error) {
	s := &Side{folder: folder, role: r}
	option := "tls"
	if r == Host {
		option = "devices-tls"
	}
	f, err := s.read()
	if err != nil {
		return nil, problem.New(option, folder, err.Error(), "make the folders with {devices-keys}").Because(err)
	}
	if err := check(f.certificate.Leaf, nil, r, f, time.Now()); err != nil {
		return nil, problem.New(option, folder, "this side cannot connect: "+err.Error(), "").Because(err)
	}
	return s, nil
}

// read returns the contents of the folder; they are read again if a file has changed.
func (s *Side) read() (*files, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateOfFiles()
	if s.files != nil && state == s.state {
		return s.files, nil
	}
	f, err := readFiles(s.folder)
	if err != nil && s.files != nil { // the files are being replaced: the next connection reads them again
		return s.files, nil
	}
	if err != nil {
		return nil, err
	}
	s.files, s.state = f, state
	return f, nil
}

// stateOfFiles returns a text that changes when a file changes.
func (s *Side) stateOfFiles() string {
	var b strings.Builder
	for _, name := range []string{authorityFile, certificateFile, keyFile, revokedFile} {
		if i, err := os.Stat(filepath.Join(s.folder, name)); err == nil {
			fmt.Fprintln(&b, name, i.Size(), i.ModTime().UnixNano())
		}
	}
	return b.String()
}

func readFiles(folder string) (*files, error) {
	f := &files{authorities: x509.NewCertPool(), revoked: map[string]bool{}}
	authorities, err := os.ReadFile(filepath.Join(folder, authorityFile))
	if err != nil {
		return nil, err
	}
	if !f.authorities.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("%s has no certificate", authorityFile)
	}
	if f.certificate, err = tls.LoadX509KeyPair(filepath.Join(folder, certificateFile),
		filepath.Join(folder, keyFile)); err != nil {
		return nil, fmt.Errorf("%s and %s: %w", certificateFile, keyFile, err)
	}
	if f.certificate.Leaf == nil {
		if f.certificate.Leaf, err = x509.ParseCertificate(f.certificate.Certificate[0]); err != nil {
			return nil, err
		}
	}
	list, err := os.ReadFile(filepath.Join(folder, revokedFile))
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(list))
	for lines.Scan() {
		if number, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); number != "" && number[0] != '#' {
			f.revoked[strings.TrimLeft(strings.ToLower(strings.ReplaceAll(number, ":", "")), "0")] = true
		}
	}
	return f, errors.Join(err, lines.Err())
}

// Config returns the configuration of connections. A Host connects, a Device accepts.
func (s *Side) Config() *tls.Config {
	c := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		VerifyConnection:       s.Verify,
	}
	if s.role == Host {
		c.InsecureSkipVerify = true // Verify checks the certificate, because names of machines do not matter
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.present() }
		return c
	}
	c.ClientAuth = tls.RequireAnyClientCert
	c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.present() }
	return c
}

func (s *Side) present() (*tls.Certificate, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	return &f.certificate, nil
}

// Verify returns an error unless the other side of a connection is trusted now.
func (s *Side) Verify(c tls.ConnectionState) error {
	if len(c.PeerCertificates) == 0 {
		return errors.New("it has shown no certificate")
	}
	f, err := s.read()
	if err != nil {
		return err
	}
	return check(c.PeerCertificates[0], c.PeerCertificates[1:], s.role.other(), f, time.Now())
}

// Check does the same as Verify for a connection of gRPC.
func (s *Side) Check(info credentials.AuthInfo) error {
	t, ok := info.(credentials.TLSInfo)
	if !ok {
		return errors.New("the connection is not encrypted")
	}
	return s.Verify(t.State)
}
