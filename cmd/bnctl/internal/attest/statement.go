package attest

import (
	"encoding/json"
	"time"

	"github.com/bnctl/bnctl/recipe"
)

// Types of the statement, and names of the digests in it. docs/statements.md defines them. If a definition
// changes, its name must change.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://github.com/bnctl/bnctl/blob/main/docs/statements.md#training-v1"

	sha256Digest      = "sha256"
	fingerprintDigest = "bnctlFingerprintV1" // digest of data
	fileDigest        = "bnctlFileV1"        // digest of a file, or of the files of a folder
	weightsDigest     = "bnctlWeightsV1"     // digest of weights
	chainDigest       = "bnctlChainV1"       // digest of a chain and its recipe
)

// statement is an in-toto Statement v1 with SLSA provenance v1.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type predicate struct {
	Definition definition `json:"buildDefinition"`
	Run        run        `json:"runDetails"`
}

type definition struct {
	Type         string         `json:"buildType"`
	Parameters   parameters     `json:"externalParameters"`
	Internal     internalValues `json:"internalParameters"`
	Dependencies []resource     `json:"resolvedDependencies"`
}

// parameters are the inputs of the training that the user has chosen.
type parameters struct {
	Recipe json.RawMessage `json:"recipe"` // the recipe in the template
}

// internalValues state how the signer made the template.
type internalValues struct {
	Action  string `json:"action"`            // Trained or Reproduced
	Resumed bool   `json:"resumed,omitempty"` // the signer did not train the epochs before a checkpoint
}

type run struct {
	Builder  builder  `json:"builder"`
	Metadata metadata `json:"metadata"`
}

// builder is a release of bnctl on a machine.
type builder struct {
	ID           string            `json:"id"`      // URI of the release
	Version      map[string]string `json:"version"` // of bnctl, the system, and the numbered kernel classes
	Dependencies []resource        `json:"builderDependencies"`
}

type metadata struct {
	Started  time.Time `json:"startedOn"`
	Finished time.Time `json:"finishedOn"`
}

// resource is a ResourceDescriptor of in-toto.
type resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// dependencies returns the inputs of the training of a template.
func (t *template) dependencies() []resource {
	r := t.recipe
	out := []resource{{"graph", map[string]string{sha256Digest: r.Graph}},
		{"data", map[string]string{fingerprintDigest: r.Data.Fingerprint}}}
	if r.Validation.Fingerprint != "" {
		sum := map[string]string{fingerprintDigest: r.Validation.Fingerprint}
		out = append(out, resource{"validation data", sum})
	}
	initial := resource{"initial weights", map[string]string{}}
	if r.Init != recipe.Drawn {
		initial.Digest[fileDigest] = r.Init
	}
	if t.chain != nil {
		initial.Digest[weightsDigest] = t.chain.Start
	}
	if len(initial.Digest) > 0 {
		out = append(out, initial)
	}
	if t.model.Chain == "" {
		return out
	}
	links := resource{"chain", map[string]string{chainDigest: t.model.Chain}}
	if t.chain != nil {
		links.Digest[sha256Digest] = t.chainSum
	}
	return append(out, links)
}
