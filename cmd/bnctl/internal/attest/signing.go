package attest

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/build"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// Actions that a statement may name: how the signer made the template.
const (
	Trained    = "trained"
	Reproduced = "reproduced"
)

// keyFlag is the flag that names the key for signing. It is not --key, because train --key is the name of a
// state dict.
const keyFlag = "attest-key"

// Flags returns the flags that request a statement.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "attest", Usage: "write a signed statement about the template to `FILE`: in-toto " +
			"and SLSA provenance, for bnctl verify"},
		&cli.StringFlag{Name: keyFlag, Usage: "`FILE` of the private key that signs it: ed25519, " +
			"of bnctl keygen"},
	}
}

// Signing describes a statement that a command will write. A nil Signing writes nothing.
type Signing struct {
	path     string
	key      ed25519.PrivateKey
	builder  builder
	internal internalValues
	started  time.Time
	template string // path of the template that the training wrote
}

// FromFlags returns the Signing that --attest and --attest-key describe, or nil. It reads the key and checks
// that the statement can be written, so that these errors do not come after a long training.
func FromFlags(c *cli.Context, resumed bool) (*Signing, error) {
	r := &Signing{path: c.String("attest"), started: time.Now(), internal: internalValues{Resumed: resumed}}
	switch {
	case !c.IsSet("attest") && !c.IsSet(keyFlag):
		return nil, nil
	case r.path == "":
		return nil, problem.New(keyFlag, "", "there is no statement to sign", "name its file with {attest}")
	case c.String(keyFlag) == "":
		return nil, problem.New("attest", r.path, "a statement has to be signed",
			"name a private key with {attest-key}; "+makeKeys)
	}
	if err := regular.NotInput(r.path, c.String(keyFlag)); err != nil {
		return nil, err
	}
	var err error
	if r.key, err = readPrivate(c.String(keyFlag)); err != nil {
		return nil, err
	}
	if err = regular.Writable(r.path); err != nil {
		return nil, problem.Wrap("attest", err)
	}
	r.builder, err = thisBuilder()
	return r, err
}

// Observe notes the path of the template when a training has written it.
func (r *Signing) Observe(e train.Event) {
	if done, ok := e.(train.Finished); ok && r != nil {
		r.template = done.Model
	}
}

// WriteTrained writes the statement about the template that Observe has noted. It returns the path of the
// statement, or "" if there is nothing to write.
func (r *Signing) WriteTrained() (string, error) {
	if r == nil || r.template == "" {
		return "", nil
	}
	return r.Write(r.template, "", Trained)
}

// Write writes the statement about a template and its chain. If chain is "", the chain is read from the file
// next to the template.
func (r *Signing) Write(model, chain, action string) (string, error) {
	t, err := readTemplate(model, chain)
	if err == nil {
		err = regular.WriteFile(r.path, 0o666, func(w io.Writer) error {
			_, err := w.Write(sign(r.statement(t, action).bytes(), r.key))
			return err
		})
	}
	if err != nil {
		return "", problem.Advise("the template is complete: make its statement with {reproduce}",
			"the statement was not written: %w", err)
	}
	return r.path, nil
}

// statement returns the statement about the template t.
func (r *Signing) statement(t *template, action string) *statement {
	s := &statement{Type: statementType, PredicateType: predicateType,
		Subject: []resource{{filepath.Base(t.path), map[string]string{sha256Digest: t.sum}}}}
	p := &s.Predicate
	p.Definition = definition{Type: buildType, Parameters: parameters{t.model.Recipe}, Internal: r.internal,
		Dependencies: t.dependencies()}
	p.Definition.Internal.Action = action
	p.Run.Builder = r.builder
	p.Run.Builder.Version = maps.Clone(r.builder.Version)
	p.Run.Builder.Version["classes"] = cmp.Or(strings.Join(t.recipe.Classes, " "), "none")
	p.Run.Metadata = metadata{r.started.UTC().Truncate(time.Second), time.Now().UTC().Truncate(time.Second)}
	return s
}

func (s *statement) bytes() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings, and a recipe that was parsed, can be encoded
	}
	return b
}

// thisBuilder describes the running program, for statements.
func thisBuilder() (b builder, err error) {
	path, err := os.Executable()
	if err != nil {
		return b, err
	}
	f, err := os.Open(path)
	if err != nil {
		return b, fmt.Errorf("the sum of this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return b, fmt.Errorf("the sum of this program: %w", err)
	}
	return builder{ID: "https://github.com/bnctl/bnctl/releases/tag/v" + build.Release(),
		Version:      map[string]string{"bnctl": build.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH},
		Dependencies: []resource{{"bnctl", map[string]string{sha256Digest: hex.EncodeToString(h.Sum(nil))}}},
	}, nil
}
