package machine

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// The name of the authority's folder, and of the file with its key. The folder stays on the machine that
// made it.
const (
	authorityFolder = "authority"
	authorityKey    = "ca.key"
)

// authorityYears is the validity of an authority in years.
const authorityYears = 10

// MakeKeys makes the folders of both sides in a folder: host and device, with new certificates that are
// valid for some days, and authority, with the key that signs them. An existing authority signs the new
// certificates too, so that connections with the earlier ones stay trusted. MakeKeys returns the
// folders that it has written.
func MakeKeys(folder string, days int) ([]string, error) {
	if days < 1 || days > 366*authorityYears {
		return nil, problem.New("days", fmt.Sprint(days), fmt.Sprintf("want 1 to %d", 366*authorityYears), "")
	}
	a, made, err := openAuthority(filepath.Join(folder, authorityFolder))
	if err != nil {
		return nil, err
	}
	for _, r := range []Role{Host, Device} {
		path := filepath.Join(folder, string(r))
		if err := a.issue(path, r, time.Duration(days)*24*time.Hour); err != nil {
			return nil, err
		}
		made = append(made, path)
	}
	return made, nil
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// openAuthority reads the authority in a folder. If there is none it makes one, and created has the new
// folder.
func openAuthority(folder string) (a *authority, created []string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, err
	}
	key, err := os.ReadFile(filepath.Join(folder, authorityKey))
	if errors.Is(err, os.ErrNotExist) {
		a, err = newAuthority(folder)
		return a, []string{folder}, err
	}
	if err != nil {
		return nil, nil, err
	}
	certificate, err := os.ReadFile(filepath.Join(folder, authorityFile))
	if err != nil {
		return nil, nil, err
	}
	a = &authority{}
	block, _ := pem.Decode(certificate)
	if block != nil {
		a.certificate, err = x509.ParseCertificate(block.Bytes)
	}
	keyBlock, _ := pem.Decode(key)
	if err != nil || block == nil || keyBlock == nil {
		return nil, nil, problem.New("", folder, "its files are not an authority",
			"remove the folder to make a new one")
	}
	private, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	signer, ok := private.(crypto.Signer)
	if err != nil || !ok {
		return nil, nil, problem.New("", folder, "its key cannot sign", "remove the folder to make a new authority")
	}
	a.key = signer
	return a, nil, nil
}

func newAuthority(folder string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &x509.Certificate{SerialNumber: newSerial(), Subject: pkix.Name{CommonName: "authority of bnctl"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(authorityYears, 0, 0), IsCA: true,
		BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &authority{c, key}
	if err := writeKey(filepath.Join(folder, authorityKey), key); err != nil {
		return nil, err
	}
	return a, writePEM(filepath.Join(folder, authorityFile), "CERTIFICATE", der, 0o644)
}

// issue writes the folder of a side with a new key and certificate.
func (a *authority) issue(folder string, r Role, valid time.Duration) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	t := &x509.Certificate{SerialNumber: newSerial(), Subject: pkix.Name{CommonName: "bnctl " + string(r)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	t.URIs = append(t.URIs, r.uri())
	der, err := x509.CreateCertificate(rand.Reader, t, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	return errors.Join(writeKey(filepath.Join(folder, keyFile), key),
		writePEM(filepath.Join(folder, certificateFile), "CERTIFICATE", der, 0o644),
		writePEM(filepath.Join(folder, authorityFile), "CERTIFICATE", a.certificate.Raw, 0o644))
}

func newSerial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // the system's random number generator has failed
	}
	return n.Add(n, big.NewInt(1))
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", der, 0o600)
}

// writePEM writes a file atomically: another process reads either the old or the new contents.
func writePEM(path, kind string, der []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = errors.Join(f.Chmod(mode), pem.Encode(f, &pem.Block{Type: kind, Bytes: der}), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
