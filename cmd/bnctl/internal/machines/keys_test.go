package machines

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// secrets returns all texts and bytes that would reveal the private key in a PEM file: the lines of the file,
// and the key and its scalar as bytes, in hexadecimal and in base64.
func secrets(t *testing.T, path string) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s is no PEM file", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	scalar, err := key.(*ecdsa.PrivateKey).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte("-----")) {
			all = append(all, line)
		}
	}
	for _, b := range [][]byte{block.Bytes, scalar} {
		all = append(all, b, []byte(hex.EncodeToString(b)), []byte(base64.StdEncoding.EncodeToString(b)))
	}
	return all
}

// After a run that a machine has left and entered again, no private key may be in the checkpoint, in the
// events that logs and reports are made of, in the notes of both sides, or in the template.
func TestNoKeysInFilesOfARun(t *testing.T) {
	keys := newKeys(t)
	m := start(t, "127.0.0.1:0", keys, "ref")
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas, r.Seed = 3, 16, 4, 3
	var found bytes.Buffer
	o := host(keys, "ref,tls://"+m.address+"/*")
	o.Note = func(format string, args ...any) { fmt.Fprintf(&found, format+"\n", args...) }
	checkpoint := filepath.Join(t.TempDir(), "run.bnc")
	state := trainOn(t, o, "glyphs:32", r, train.Config{Checkpoint: checkpoint, CheckpointEvery: 1,
		Events: func(e train.Event) {
			text, err := json.Marshal(e)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&found, "%s\n%+v\n", text, e)
			if e, ok := e.(train.EpochDone); ok && e.Epoch == 1 {
				m.end(t)
				m = start(t, m.address, keys, "ref")
			}
		}})
	files, err := filepath.Glob(filepath.Join(filepath.Dir(checkpoint), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v: want a checkpoint", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found.Write(b)
	}
	for name, v := range state {
		found.WriteString(name)
		found.Write(v.Bytes)
	}
	m.mu.Lock()
	fmt.Fprintln(&found, m.notes)
	m.mu.Unlock()
	for _, name := range []string{"host/tls.key", "device/tls.key", "authority/ca.key"} {
		for _, secret := range secrets(t, filepath.Join(keys, name)) {
			if bytes.Contains(found.Bytes(), secret) {
				t.Errorf("%d bytes of %s are in the files or messages of a run", len(secret), name)
			}
		}
	}
}
