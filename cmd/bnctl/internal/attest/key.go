package attest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// Types of the PEM blocks that hold ed25519 keys.
const (
	privateBlock = "PRIVATE KEY" // PKCS#8
	publicBlock  = "PUBLIC KEY"  // SubjectPublicKeyInfo
)

// makeKeys is the advice in errors about a missing key.
const makeKeys = "make a pair of keys with {keygen} NAME"

// keyID returns the name of a public key in envelopes: its fingerprint, as ssh-keygen -l prints it. DSSE
// libraries use the same name for a key that was given none.
func keyID(key ed25519.PublicKey) string {
	var b []byte
	for _, field := range [][]byte{[]byte("ssh-ed25519"), key} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(field))), field...)
	}
	sum := sha256.Sum256(b)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// readPrivate reads a private ed25519 key without a pass phrase: PEM with PKCS#8.
func readPrivate(path string) (ed25519.PrivateKey, error) {
	block, err := readKey(keyFlag, path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(block.Type, "ENCRYPTED"), strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
		return nil, problem.New(keyFlag, path, "the key has a pass phrase, and no one can enter it here",
			"write it without: openssl pkey -in KEY -out PLAIN")
	case block.Type == publicBlock:
		return nil, problem.New(keyFlag, path, "it is the public key, and a signature needs the private one",
			"name the private key")
	case block.Type != privateBlock:
		return nil, problem.New(keyFlag, path, fmt.Sprintf("it has a PEM block %q, want %q (PKCS#8)", block.Type,
			privateBlock), makeKeys)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, problem.New(keyFlag, path, fmt.Sprintf("the key is damaged: %v", err), makeKeys)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, otherKind(keyFlag, path, parsed)
	}
	return key, nil
}

// readPublic reads a public ed25519 key: PEM with SubjectPublicKeyInfo.
func readPublic(path string) (ed25519.PublicKey, error) {
	block, err := readKey("key", path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(block.Type, privateBlock):
		return nil, problem.New("key", path, "it is a private key, and a verification needs the public one",
			"name the public key, and keep the private one secret")
	case block.Type != publicBlock:
		return nil, problem.New("key", path, fmt.Sprintf("it has a PEM block %q, want %q", block.Type, publicBlock),
			"name the public key of the signer")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, problem.New("key", path, fmt.Sprintf("the key is damaged: %v", err),
			"get it from the signer again")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, otherKind("key", path, parsed)
	}
	return key, nil
}

// readKey reads the first PEM block of a file.
func readKey(flag, path string) (*pem.Block, error) {
	b, err := regular.Read(path, 1<<16)
	if err != nil {
		return nil, problem.Wrap(flag, err)
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, problem.New(flag, path, "it is no key in PEM", makeKeys)
	}
	return block, nil
}

// otherKind returns the error for a key that is not ed25519.
func otherKind(flag, path string, key any) error {
	kind := fmt.Sprintf("%T", key) // for example *ecdsa.PublicKey
	kind, _, _ = strings.Cut(strings.TrimPrefix(kind, "*"), ".")
	return problem.New(flag, path, "it is an "+kind+" key, want ed25519", makeKeys)
}

// makePair writes a new pair of keys to the files NAME.key and NAME.pub, which must not exist. It returns the
// paths and the name of the key.
func makePair(name string) (files []string, id string, err error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, "", err
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, "", err
	}
	files = []string{name + ".key", name + ".pub"}
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return nil, "", problem.New("", "", file+" exists, and a key is never replaced", "choose another NAME")
		}
	}
	if err := writeKey(files[0], 0o600, privateBlock, secret); err != nil {
		return nil, "", err
	}
	return files, keyID(public), writeKey(files[1], 0o666, publicBlock, open)
}

func writeKey(path string, mode fs.FileMode, kind string, der []byte) error {
	return regular.WriteFile(path, mode, func(w io.Writer) error {
		return pem.Encode(w, &pem.Block{Type: kind, Bytes: der})
	})
}
