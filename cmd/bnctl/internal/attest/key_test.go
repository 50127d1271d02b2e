package attest

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// testKey returns a pair of keys, the same in every call.
func testKey() (ed25519.PublicKey, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("0123456789abcdef", 2)))
	return private.Public().(ed25519.PublicKey), private
}

// Other programs made these keys: openssl genpkey -algorithm ed25519 -aes256, openssl ecparam -genkey -name
// prime256v1, and ssh-keygen -t ed25519.
const (
	encryptedKey = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAihfmKm+aBkswICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDjkRZtayEBEFagQe7giUnIEQHqF
Qdjth5SyK5FBDuykiK9Fq0fbhe+OimEYKhkcLbEcgL1i78z/Pztj/6r0Z3GCpYUV
FbkaU6u+5qBYu/mKH3k=
-----END ENCRYPTED PRIVATE KEY-----
`
	cosignKey = `-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----
eyJrZGYiOnsibmFtZSI6InNjcnlwdCJ9fQ==
-----END ENCRYPTED SIGSTORE PRIVATE KEY-----
`
	ecdsaKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKbOYGkQ4L+0HIUk0
q6ibzeay2mYjuXfkUu5yZ5RSOKOhRANCAATbLFeHyymVUS79MMWAY194ZbI0KFxL
8Kir2ejfT1LhDT7xZeweRab9QXVMBIClwB5P5BF3lKgxrSR7hidyqHhD
-----END PRIVATE KEY-----
`
	ecdsaPublic = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE2yxXh8splVEu/TDFgGNfeGWyNChc
S/Coq9no309S4Q0+8WXsHkWm/UF1TASApcAeT+QRd5SoMa0ke4Yncqh4Qw==
-----END PUBLIC KEY-----
`
	sshKey = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBot/2zgGiTFgs4TNKarnImeEfA/te8Cd1Uo/72qyIz2gAAAJAYnyUpGJ8l
KQAAAAtzc2gtZWQyNTUxOQAAACBot/2zgGiTFgs4TNKarnImeEfA/te8Cd1Uo/72qyIz2g
AAAECiMehJiNHPFFKCSJEBjeaLxE8Lj4Xn31eia6450afNAGi3/bOAaJMWCzhM0pquciZ4
R8D+17wJ3VSj/varIjPaAAAAB3Jvb3RAdm0BAgMEBQY=
-----END OPENSSH PRIVATE KEY-----
`
	damagedKey    = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
	damagedPublic = "-----BEGIN PUBLIC KEY-----\nMIGH\n-----END PUBLIC KEY-----\n"
)

// TestKeysThatCannotBeUsed checks the error for each kind of key that cannot be used.
func TestKeysThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	pair, _, err := makePair(filepath.Join(folder, "team"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string { return string(mustRead(t, path)) }
	for name, c := range map[string]struct{ file, private, public string }{
		"pass phrase": {encryptedKey, "the key has a pass phrase", "it is a private key"},
		"cosign":      {cosignKey, "the key has a pass phrase", "it is a private key"},
		"old openssl": {strings.Replace(damagedKey, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
			"the key has a pass phrase", "it is a private key"},
		"ecdsa":          {ecdsaKey, "it is an ecdsa key, want ed25519", "it is a private key"},
		"ecdsa public":   {ecdsaPublic, "it is the public key", "it is an ecdsa key, want ed25519"},
		"ssh":            {sshKey, `it has a PEM block "OPENSSH PRIVATE KEY"`, "it is a private key"},
		"damaged":        {damagedKey, "the key is damaged", "it is a private key"},
		"damaged public": {damagedPublic, "it is the public key", "the key is damaged"},
		"private":        {read(pair[0]), "", "it is a private key"},
		"public":         {read(pair[1]), "it is the public key", ""},
		"no key":         {"ssh-ed25519 AAAA", "it is no key in PEM", "it is no key in PEM"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		_, private := readPrivate(path)
		_, public := readPublic(path)
		for want, err := range map[string]error{c.private: private, c.public: public} {
			if (want == "") != (err == nil) || err != nil &&
				(!problem.IsMisuse(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// TestPair checks the files of a new pair of keys.
func TestPair(t *testing.T) {
	name := filepath.Join(t.TempDir(), "team")
	files, id, err := makePair(name)
	if err != nil {
		t.Fatal(err)
	}
	private, err1 := readPrivate(files[0])
	public, err2 := readPublic(files[1])
	if err1 != nil || err2 != nil || !public.Equal(private.Public()) || keyID(public) != id {
		t.Errorf("the pair is read as %v, %v", err1, err2)
	}
	if info, err := os.Stat(files[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the private key has the mode %v, %v", info.Mode(), err)
	}
	if _, _, err := makePair(name); err == nil || !problem.IsMisuse(err) ||
		!strings.Contains(err.Error(), "exists, and a key is never replaced") {
		t.Errorf("again: %v", err)
	}
}

// TestKeyID compares the name of a key with the fingerprint that ssh-keygen -l prints for it.
func TestKeyID(t *testing.T) {
	public, _ := testKey()
	if got, want := keyID(public), "SHA256:itI1iupKqRYOPJgco+KbEsjhhwG+krid39PLVhlbap4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
