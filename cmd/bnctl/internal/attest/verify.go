package attest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// Report is the result of a verification, as --json prints it.
type Report struct {
	Model     string            `json:"model"`
	Statement string            `json:"statement"`
	Valid     bool              `json:"valid"`
	Reason    string            `json:"reason,omitempty"` // why the statement is not valid
	SHA256    string            `json:"sha256"`           // SHA-256 of the template
	Key       string            `json:"key"`
	Action    string            `json:"action,omitempty"` // Trained or Reproduced
	Resumed   bool              `json:"resumed,omitempty"`
	Builder   string            `json:"builder,omitempty"`
	Version   map[string]string `json:"version,omitempty"`
	Program   string            `json:"program_sha256,omitempty"`
}

// text describes the result in a sentence.
func (r *Report) text() string {
	if !r.Valid {
		return fmt.Sprintf("%s is no valid statement about %s: %s", r.Statement, r.Model, r.Reason)
	}
	resumed := ""
	if r.Resumed {
		resumed = " from a checkpoint on"
	}
	return fmt.Sprintf("valid: %s  sha256 %s  %s%s by %s, classes %s; signed with %s", r.Model, r.SHA256,
		r.Action, resumed, r.Builder, r.Version["classes"], r.Key)
}

// maxStatement is the largest accepted size of a statement's file, in bytes.
const maxStatement = 16 << 20

// verify checks the statement in a file against a template. If the statement is not valid, the Report has the
// reason. The error is about files that cannot be checked at all.
func verify(model, file, keyFile string) (*Report, error) {
	key, err := readPublic(keyFile)
	if err != nil {
		return nil, err
	}
	b, err := regular.Read(file, maxStatement)
	if err != nil {
		return nil, problem.Wrap("attest", err)
	}
	e, err := parseEnvelope(b)
	if err != nil {
		return nil, problem.New("attest", file, err.Error(),
			"name the file that a training with {attest} has written")
	}
	t, err := readTemplate(model, "")
	if err != nil {
		return nil, err
	}
	r := &Report{Model: model, Statement: file, SHA256: t.sum, Key: keyID(key)}
	err = r.check(e, key, t)
	var reason invalid
	if errors.As(err, &reason) {
		r.Reason = string(reason)
		return r, nil
	}
	r.Valid = err == nil
	return r, err
}

// check verifies the signature of e, and compares the statement in it with the template t.
func (r *Report) check(e *envelope, key ed25519.PublicKey, t *template) error {
	payload, err := e.verify(key)
	if err != nil {
		return err
	}
	var s statement
	if err := json.Unmarshal(payload, &s); err != nil {
		return invalid("it is signed, but no statement of in-toto")
	}
	if err := s.checkSubject(t); err != nil {
		return err
	}
	b := s.Predicate.Run.Builder
	r.Action, r.Resumed = s.Predicate.Definition.Internal.Action, s.Predicate.Definition.Internal.Resumed
	r.Builder, r.Version = b.ID, b.Version
	for _, d := range b.Dependencies {
		if d.Name == "bnctl" {
			r.Program = d.Digest[sha256Digest]
		}
	}
	return nil
}

// checkSubject returns an error with the reason if s is not a statement about t.
func (s *statement) checkSubject(t *template) error {
	p := s.Predicate.Definition
	for _, f := range []struct{ what, is, want string }{{"type", s.Type, statementType},
		{"predicate", s.PredicateType, predicateType}, {"build type", p.Type, buildType}} {
		if f.is != f.want {
			return invalid(fmt.Sprintf("its %s is %q, want %q", f.what, f.is, f.want))
		}
	}
	if n := len(s.Subject); n != 1 {
		return invalid(fmt.Sprintf("it has %s, want 1", problem.Plural(n, "subject")))
	}
	if sum := s.Subject[0].Digest[sha256Digest]; sum != t.sum {
		return invalid(fmt.Sprintf("it is about another template, %s with sha256 %s; this one has %s",
			s.Subject[0].Name, sum, t.sum))
	}
	if action := p.Internal.Action; action != Trained && action != Reproduced {
		return invalid(fmt.Sprintf("its action is %q, want %s or %s", action, Trained, Reproduced))
	}
	if r, err := recipe.Parse(p.Parameters.Recipe); err != nil || !bytes.Equal(r.JSON(), t.recipe.JSON()) {
		return invalid("its recipe is not the one in the template")
	}
	return s.hasDependencies(t)
}

// hasDependencies returns an error with the reason if the dependencies of s differ from the ones of t.
func (s *statement) hasDependencies(t *template) error {
	stated := map[string]map[string]string{}
	for _, d := range s.Predicate.Definition.Dependencies {
		stated[d.Name] = d.Digest
	}
	for _, want := range t.dependencies() {
		for name, sum := range want.Digest {
			is, ok := stated[want.Name][name]
			if optional := name == weightsDigest || name == sha256Digest && want.Name == "chain"; !ok && optional {
				continue // the signer did not have the file of the chain
			}
			if is != sum {
				return invalid(fmt.Sprintf("its %s has the sum %q (%s), and the template has %q", want.Name, is, name,
					sum))
			}
		}
	}
	return nil
}
