package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"testing"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestStatementIsOneOfInToto parses a statement with the protobufs that in-toto and SLSA publish, and
// validates it with their code. The protobufs refuse unknown fields.
func TestStatementIsOneOfInToto(t *testing.T) {
	s := newSample(t)
	e, err := parseEnvelope(s.read(t))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := decode(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	var got intoto.Statement
	if err := errors.Join(protojson.Unmarshal(payload, &got), got.Validate()); err != nil {
		t.Fatal(err)
	}
	b, err := protojson.Marshal(got.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	var p provenance.Provenance
	if err := errors.Join(protojson.Unmarshal(b, &p), p.Validate()); err != nil {
		t.Fatal(err)
	}
	if got.GetPredicateType() != "https://slsa.dev/provenance/v1" || len(got.GetSubject()) != 1 {
		t.Errorf("the statement has predicate %s and %d subjects", got.GetPredicateType(), len(got.GetSubject()))
	}
	for _, d := range p.GetBuildDefinition().GetResolvedDependencies() {
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", d.GetName(), err)
		}
	}
	if n := len(p.GetBuildDefinition().GetResolvedDependencies()); n != 5 {
		t.Errorf("%d dependencies, want graph, data, validation data, initial weights and chain", n)
	}
	if p.GetRunDetails().GetBuilder().GetVersion()["classes"] != "ref/1" {
		t.Errorf("the builder is %v", p.GetRunDetails().GetBuilder())
	}
}

// TestInvalidStatementIsFound checks that the published code can fail: it must refuse a statement without a
// digest.
func TestInvalidStatementIsFound(t *testing.T) {
	s := newSample(t)
	s.payload.Subject[0].Digest = nil
	var got intoto.Statement
	if err := errors.Join(protojson.Unmarshal(s.payload.bytes(), &got), got.Validate()); err == nil {
		t.Error("a statement without a digest is valid")
	}
}

// named is a key for the published DSSE library. It has no explicit name, so that the library computes one.
type named struct {
	*signerverifier.ED25519SignerVerifier
}

func (named) KeyID() (string, error) { return "", nil }

// Public returns the key in the type of crypto/ed25519.
func (n named) Public() crypto.PublicKey { return n.ED25519SignerVerifier.Public() }

// loaded returns a key of the published library, which reads it from a file that this package has written.
func loaded(t *testing.T, path string) named {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signerverifier.LoadKey(b)
	if err != nil {
		t.Fatal(err)
	}
	sv, err := signerverifier.NewED25519SignerVerifierFromSSLibKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return named{sv}
}

// TestEnvelopeIsOneOfDSSE verifies an envelope of this package with the published DSSE library, and the other
// way round.
func TestEnvelopeIsOneOfDSSE(t *testing.T) {
	s := newSample(t)
	ctx := context.Background()
	var e dsse.Envelope
	if err := json.Unmarshal(s.read(t), &e); err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewEnvelopeVerifier(loaded(t, s.pub))
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := verifier.Verify(ctx, &e)
	if err != nil {
		t.Fatal(err)
	}
	if id := keyID(s.key.Public().(ed25519.PublicKey)); accepted[0].KeyID != id || e.Signatures[0].KeyID != id {
		t.Errorf("the library names the key %s, want %s", accepted[0].KeyID, id)
	}
	e.PayloadType += "x"
	if _, err := verifier.Verify(ctx, &e); err == nil {
		t.Error("the library accepts another payload type")
	}

	signer, err := dsse.NewEnvelopeSigner(loaded(t, s.secret))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := signer.SignPayload(ctx, payloadType, s.payload.bytes())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, b)
	if r, err := verify(s.model, s.statement, s.pub); err != nil || !r.Valid {
		t.Errorf("the library's envelope: %+v, %v", r, err)
	}
}
