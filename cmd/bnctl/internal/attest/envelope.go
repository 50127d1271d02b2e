package attest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// payloadType is the type of in-toto statements in an envelope.
const payloadType = "application/vnd.in-toto+json"

// envelope is a DSSE envelope: https://github.com/secure-systems-lab/dsse.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // in base64
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"` // keyID of the public key
	Sig   string `json:"sig"`   // base64
}

// preAuth returns the bytes that are signed: DSSE's pre-authentication encoding.
func preAuth(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// sign returns an envelope with one signature, as the content of a file.
func sign(payload []byte, key ed25519.PrivateKey) []byte {
	sum := ed25519.Sign(key, preAuth(payloadType, payload))
	encode := base64.StdEncoding.EncodeToString
	b, err := json.Marshal(envelope{PayloadType: payloadType, Payload: encode(payload),
		Signatures: []signature{{keyID(key.Public().(ed25519.PublicKey)), encode(sum)}}})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return append(b, '\n')
}

// parseEnvelope reads the file of an envelope.
func parseEnvelope(file []byte) (*envelope, error) {
	var e envelope
	d := json.NewDecoder(bytes.NewReader(file))
	if err := d.Decode(&e); err != nil || e.PayloadType == "" || e.Payload == "" {
		return nil, fmt.Errorf("it is no DSSE envelope")
	}
	if d.More() {
		return nil, fmt.Errorf("it has more than one envelope")
	}
	return &e, nil
}

// verify returns the payload if it is signed with the key. Otherwise the error has type invalid.
func (e *envelope) verify(key ed25519.PublicKey) ([]byte, error) {
	if e.PayloadType != payloadType {
		return nil, invalid(fmt.Sprintf("its payload has the type %q, want %q", e.PayloadType, payloadType))
	}
	if len(e.Signatures) == 0 {
		return nil, invalid("it has no signature")
	}
	payload, err := decode(e.Payload)
	if err != nil {
		return nil, invalid("its payload is not base64")
	}
	signed := preAuth(e.PayloadType, payload)
	for _, s := range e.Signatures {
		if sum, err := decode(s.Sig); err == nil && ed25519.Verify(key, signed, sum) {
			return payload, nil
		}
	}
	text := fmt.Sprintf("no signature is of the key %s", keyID(key))
	if s := e.Signatures[0]; s.KeyID == keyID(key) {
		text += ": the statement was changed after it was signed"
	} else if s.KeyID != "" {
		text += fmt.Sprintf(": it names the key %q", s.KeyID)
	}
	return nil, invalid(text)
}

// decode reads base64 in the standard or the URL alphabet. DSSE permits both.
func decode(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b, err = base64.URLEncoding.DecodeString(text)
	}
	return b, err
}

// invalid is the reason why a file is not a valid statement about a template.
type invalid string

func (i invalid) Error() string { return string(i) }
