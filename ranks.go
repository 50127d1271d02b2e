package bnctl

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// broadcastModel returns the model to start from, which rank 0 sends.
func (r *Run) broadcastModel(ctx context.Context) (*modelfile.Started, error) {
	p := r.o.Peers
	if p == nil {
		return r.startModel(ctx)
	}
	m, mine := &modelfile.Started{}, []byte(nil)
	var err error
	if p.Rank() == 0 {
		if m, err = r.startModel(ctx); err == nil {
			mine, err = modelBytes(m)
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := p.Broadcast(ctx, mine)
	switch {
	case err != nil || p.Rank() == 0:
		return m, err
	case len(b) < digestBytes:
		return nil, fmt.Errorf("rank 0 has sent a model of %s", problem.Plural(len(b), "byte"))
	}
	sum, format, _ := strings.Cut(strings.TrimRight(string(b[:digestBytes]), "\x00"), " ")
	m.SetWeights(sum, format)
	m.Model, err = serialize.ParseModel("the model of rank 0", b[digestBytes:])
	return m, err
}

// digestBytes is the length of what precedes the model in a message: the digest of the file of the weights,
// and the format of that file.
const digestBytes = 128

// modelBytes returns the bytes of a model to send to other ranks. It uses no temporary file, because a killed
// rank would leave the file behind.
func modelBytes(m *modelfile.Started) ([]byte, error) {
	digest := make([]byte, digestBytes)
	copy(digest, strings.TrimSpace(m.Weights+" "+m.WeightsFormat()))
	out := bytes.NewBuffer(digest)
	err := serialize.EncodeModel(out, m.Model)
	return out.Bytes(), err
}

// compareOptions calls compare on rank 0. The other ranks receive the fields that compare reads from files.
func (r *Run) compareOptions(ctx context.Context) error {
	p := r.o.Peers
	if p == nil || p.Rank() == 0 {
		if err := r.compare(ctx); err != nil || p == nil {
			return err
		}
	}
	b, err := p.Broadcast(ctx, r.recipe.JSON())
	if err != nil {
		return err
	}
	first, err := recipe.Parse(b)
	if err != nil {
		return err
	}
	r.recipe.Init, r.recipe.Model, r.recipe.Graph = first.Init, first.Model, first.Graph
	r.recipe.Interpolation, r.recipe.EXIF = first.Interpolation, first.EXIF
	return nil
}
