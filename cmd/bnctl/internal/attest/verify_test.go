package attest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize/chain"
)

// TestVerify checks the report of a valid statement.
func TestVerify(t *testing.T) {
	s := newSample(t)
	r, err := verify(s.model, s.statement, s.pub)
	if err != nil || !r.Valid || r.Action != Trained || r.Version["classes"] != "ref/1" || len(r.Program) != 64 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := os.Remove(chain.Path(s.model)); err != nil {
		t.Fatal(err)
	}
	if r, err = verify(s.model, s.statement, s.pub); err != nil || !r.Valid {
		t.Errorf("without the chain: %+v, %v", r, err)
	}
}

// TestStatementsThatAreNotValid changes each part of a statement and signs it again. The report must have the
// reason why it is not valid.
func TestStatementsThatAreNotValid(t *testing.T) {
	for want, change := range map[string]func(*statement){
		"it has 2 subjects, want 1":                            func(s *statement) { s.Subject = append(s.Subject, s.Subject[0]) },
		"it has 0 subjects, want 1":                            func(s *statement) { s.Subject = nil },
		"it is about another template":                         func(s *statement) { s.Subject[0].Digest[sha256Digest] = "00" },
		`its type is "x"`:                                      func(s *statement) { s.Type = "x" },
		`its predicate is "x"`:                                 func(s *statement) { s.PredicateType = "x" },
		`its build type is "x"`:                                func(s *statement) { s.Predicate.Definition.Type = "x" },
		`its action is "x"`:                                    func(s *statement) { s.Predicate.Definition.Internal.Action = "x" },
		"its recipe is not the one":                            func(s *statement) { s.Predicate.Definition.Parameters.Recipe = []byte(`{}`) },
		`its graph has the sum "x"`:                            dependency("graph", sha256Digest),
		`its data has the sum "x"`:                             dependency("data", fingerprintDigest),
		`its validation data has the sum "x"`:                  dependency("validation data", fingerprintDigest),
		`its initial weights has the sum "x" (bnctlFileV1)`:    dependency("initial weights", fileDigest),
		`its initial weights has the sum "x" (bnctlWeightsV1)`: dependency("initial weights", weightsDigest),
		`its chain has the sum "x" (bnctlChainV1)`:             dependency("chain", chainDigest),
		`its chain has the sum "x" (sha256)`:                   dependency("chain", sha256Digest),
		`its graph has the sum "" (sha256)`:                    func(s *statement) { s.Predicate.Definition.Dependencies = nil },
	} {
		s := newSample(t)
		change(&s.payload)
		s.sign(t, s.payload)
		r, err := verify(s.model, s.statement, s.pub)
		if err != nil || r.Valid || !strings.Contains(r.text(), want) {
			t.Errorf("want %q, got %+v, %v", want, r, err)
		}
	}
}

// dependency returns a function that changes the digest of the dependency name.
func dependency(name, digest string) func(*statement) {
	return func(s *statement) {
		for _, d := range s.Predicate.Definition.Dependencies {
			if d.Name == name {
				d.Digest[digest] = "x"
			}
		}
	}
}

// TestEnvelopesThatAreNotValid checks the reasons for envelopes that were changed.
func TestEnvelopesThatAreNotValid(t *testing.T) {
	s := newSample(t)
	valid := s.read(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"no signature":  {`"signatures":[{`, `"signatures":[],"x":[{`, "it has no signature"},
		"other type":    {payloadType, "text/plain", `its payload has the type "text/plain"`},
		"other name":    {"+json", "+jsom", "its payload has the type"},
		"not base64":    {`"payload":"e`, `"payload":"!`, "its payload is not base64"},
		"no base64 sig": {`"sig":"`, `"sig":"!`, "the statement was changed after it was signed"},
		"changed":       {`"payload":"ey`, `"payload":"eW`, "the statement was changed after it was signed"},
		"other key":     {`"keyid":"SHA256:`, `"keyid":"SHA257:`, "valid"},
	} {
		s.write(t, bytes.Replace(valid, []byte(c.old), []byte(c.new), 1))
		r, err := verify(s.model, s.statement, s.pub)
		if err != nil || !strings.Contains(r.text(), c.want) || r.Valid != (c.want == "valid") {
			t.Errorf("%s: %+v, %v; want %q", name, r, err, c.want)
		}
	}
	s.write(t, valid)
	other, _, err := makePair(filepath.Join(s.folder, "other"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify(s.model, s.statement, other[1])
	if err != nil || r.Valid || !strings.Contains(r.Reason, "it names the key") {
		t.Errorf("another key: %+v, %v", r, err)
	}
}

// TestEveryBitIsSigned flips each bit of an envelope. The result must be refused, or have the same payload.
func TestEveryBitIsSigned(t *testing.T) {
	public, private := testKey()
	payload := []byte(`{"_type":"` + statementType + `"}`)
	valid := sign(payload, private)
	for i := range valid {
		for bit := range 8 {
			b := bytes.Clone(valid)
			b[i] ^= 1 << bit
			e, err := parseEnvelope(b)
			if err != nil {
				continue
			}
			if got, err := e.verify(public); err == nil && !bytes.Equal(got, payload) {
				t.Fatalf("bit %d of byte %d: another payload is valid", bit, i)
			}
		}
	}
}

// TestFilesThatAreNoStatements checks the errors about files that are no statements, templates or keys.
func TestFilesThatAreNoStatements(t *testing.T) {
	s := newSample(t)
	valid := s.read(t)
	for want, file := range map[string]string{
		"it is no DSSE envelope": "{}", "it is no DSSE envelope; name": "\x89PNG", "no DSSE envelope": "",
		"it has more than one envelope": string(valid) + string(valid)} {
		s.write(t, []byte(file))
		if _, err := verify(s.model, s.statement, s.pub); err == nil || !problem.IsMisuse(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
	s.write(t, valid)
	edited := bytes.Replace(mustRead(t, chain.Path(s.model)), []byte(`"step":2`), []byte(`"step":3`), 1)
	if err := os.WriteFile(chain.Path(s.model), edited, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(s.model, s.statement, s.pub); err == nil || !problem.IsMisuse(err) ||
		!strings.Contains(err.Error(), "is not the chain of") {
		t.Errorf("an edited chain: %v", err)
	}
	if err := os.WriteFile(s.model, []byte("PK and so on"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(s.model, s.statement, s.pub); err == nil || !problem.IsMisuse(err) ||
		!strings.Contains(err.Error(), "it has no recipe") {
		t.Errorf("a file of PyTorch: %v", err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzEnvelope checks that no file is valid with another payload than the signed one.
func FuzzEnvelope(f *testing.F) {
	public, private := testKey()
	payload := []byte(`{"_type":"` + statementType + `"}`)
	f.Add(sign(payload, private))
	f.Add([]byte(`{"payloadType":"x","payload":"eA==","signatures":[{"sig":"eA=="}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		e, err := parseEnvelope(file)
		if err != nil {
			return
		}
		if got, err := e.verify(public); err == nil && !bytes.Equal(got, payload) {
			t.Fatalf("%q is valid", got)
		}
	})
}
