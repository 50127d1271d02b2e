package attest

import (
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
)

// sample is a template with its chain, a statement about it, and the keys.
type sample struct {
	folder                        string
	model, statement, secret, pub string
	key                           ed25519.PrivateKey
	payload                       statement
}

// builderOfTests describes the test program, for statements. It computes the sum of the program once.
var builderOfTests = sync.OnceValues(thisBuilder)

// newSample writes a template with random weights and a recipe, and a statement about it.
func newSample(t *testing.T) *sample {
	t.Helper()
	s := &sample{folder: t.TempDir()}
	s.model, s.statement = filepath.Join(s.folder, "m.bnm"), filepath.Join(s.folder, "m.intoto.json")
	s.writeTemplate(t, s.model, 0)
	files, _, err := makePair(filepath.Join(s.folder, "team"))
	if err != nil {
		t.Fatal(err)
	}
	s.secret, s.pub = files[0], files[1]
	if s.key, err = readPrivate(s.secret); err != nil {
		t.Fatal(err)
	}
	b, err := builderOfTests()
	if err != nil {
		t.Fatal(err)
	}
	r := &Signing{path: s.statement, key: s.key, builder: b, started: time.Now()}
	if _, err := r.Write(s.model, "", Trained); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(s.statement)
	if err != nil {
		t.Fatal(err)
	}
	e, err := parseEnvelope(file)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := decode(e.Payload)
	if err == nil {
		err = json.Unmarshal(payload, &s.payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// writeTemplate writes a template and its chain.
func (s *sample) writeTemplate(t *testing.T, path string, seed uint64) {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := recipe.Default("mlp-bn")
	sum := strings.Repeat("ab", 32)
	r.Seed, r.Graph, r.Init, r.Classes, r.Numbers = seed, sum, sum, []string{"ref/1"}, []string{"init/1"}
	r.Data = recipe.Data{Kind: "glyphs", Samples: 8, Fingerprint: strings.Repeat("cd", 32)}
	r.Validation = recipe.Data{Kind: "glyphs", Samples: 4, Fingerprint: strings.Repeat("ef", 32)}
	m.Recipe = r.JSON()
	c := (&chain.Chain{Start: m.WeightsSum()}).Add(chain.Link{Epoch: 1, Step: 2, State: sum})
	m.Chain = c.Seal(m.Recipe)
	if _, err := serialize.WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chain.Path(path), c.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sign replaces the statement by another payload, which it signs with the key.
func (s *sample) sign(t *testing.T, payload any) {
	t.Helper()
	b, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, sign(b, s.key))
}

func (s *sample) write(t *testing.T, file []byte) {
	t.Helper()
	if err := os.WriteFile(s.statement, file, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (s *sample) read(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(s.statement)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
