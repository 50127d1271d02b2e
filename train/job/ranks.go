package job

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

// follows reports whether this rank leaves files to rank 0.
func (j *Job) follows() bool { return j.o.Peers != nil && j.o.Peers.Rank() > 0 }

// replicas returns the number of replicas of this rank.
func (j *Job) replicas() int {
	all, p := j.Recipe.StepReplicas(), j.o.Peers
	if p == nil || p.Size() > all {
		return all
	}
	return parallel.Split(all, p.Size())[p.Rank()]
}

// ReadCheckpoint reads the checkpoint to resume. It returns nil if path is "",
// or if the file does not exist and may is true. With several ranks only rank 0
// reads the file, and sends it to the others.
func ReadCheckpoint(ctx context.Context, p *fabric.Peers, path string, may bool) (
	*serialize.Checkpoint, error) {
	if p == nil {
		return readCheckpoint(path, may)
	}
	var mine []byte
	if p.Rank() == 0 {
		k, err := readCheckpoint(path, may)
		if err == nil && k != nil {
			mine, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := p.Share(ctx, mine)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return serialize.ParseCheckpoint("the checkpoint of rank 0", b)
}

func readCheckpoint(path string, may bool) (*serialize.Checkpoint, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); may && os.IsNotExist(err) {
		return nil, nil
	}
	return serialize.ReadCheckpoint(path)
}

// sharedModel returns the model to start from: that of rank 0.
func (j *Job) sharedModel(ctx context.Context, seed uint64) (*modelfile.Started, error) {
	p := j.o.Peers
	if p == nil {
		return j.start(seed)
	}
	m, mine := &modelfile.Started{}, []byte(nil)
	var err error
	if p.Rank() == 0 {
		if m, err = j.start(seed); err == nil {
			mine, err = modelBytes(m)
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := p.Share(ctx, mine)
	switch {
	case err != nil || p.Rank() == 0:
		return m, err
	case len(b) < digestBytes:
		return nil, fmt.Errorf("rank 0 has sent a model of %s", problem.Counted(len(b), "byte"))
	}
	m.Weights = strings.TrimRight(string(b[:digestBytes]), "\x00")
	m.Model, err = serialize.ParseModel("the model of rank 0", b[digestBytes:])
	return m, err
}

// digestBytes is the room before a model for the digest of its weights' file.
const digestBytes = 64

// modelBytes returns what is sent of a model: it goes through no file, which a rank that is
// killed would leave behind.
func modelBytes(m *modelfile.Started) ([]byte, error) {
	digest := make([]byte, digestBytes)
	copy(digest, m.Weights)
	out := bytes.NewBuffer(digest)
	err := serialize.EncodeModel(out, m.Model)
	return out.Bytes(), err
}

// compared is compare, by rank 0, of which the others take what is about files.
func (j *Job) compared(ctx context.Context, r *train.Recipe) error {
	p := j.o.Peers
	if p == nil || p.Rank() == 0 {
		if err := j.compare(r); err != nil || p == nil {
			return err
		}
	}
	b, err := p.Share(ctx, r.JSON())
	if err != nil {
		return err
	}
	first, err := train.ParseRecipe(b)
	if err != nil {
		return err
	}
	r.Init, r.Model, r.Graph = first.Init, first.Model, first.Graph
	r.Interpolation, r.EXIF = first.Interpolation, first.EXIF
	return nil
}
