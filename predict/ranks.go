package predict

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
)

// agreement is exchanged by ranks before they predict together.
type agreement struct {
	Model   string `json:"model"` // SHA-256 of graph and state
	Samples int    `json:"samples"`
	Batch   int    `json:"batch"`
	Devices int    `json:"devices"`
	Stages  string `json:"stages"`
}

// agree returns an error unless all ranks have the same model and number of samples. It
// gives every rank the same number of replicas: the largest number of devices on any rank.
func (o *Options) agree(ctx context.Context, m *models.Model, c *parallel.Config) error {
	p := o.Peers
	if p == nil {
		return nil
	}
	mine, err := json.Marshal(agreement{digest(m), o.Samples, o.Batch, c.Replicas, o.Stages.String()})
	if err != nil {
		return err
	}
	records, err := p.AllGather(ctx, mine)
	if err != nil {
		return err
	}
	all, most := make([]agreement, len(records)), 0
	for rank, r := range records {
		if err := json.Unmarshal(r, &all[rank]); err != nil {
			return &parallel.RankError{Rank: rank, Text: err.Error()}
		}
		if what := all[rank].differs(all[0]); what != "" {
			return &parallel.RankError{Rank: rank, Text: what,
				Advice: "start all ranks with the same options and files"}
		}
		most = max(most, all[rank].Devices)
	}
	c.Peers, c.Replicas = p, most*p.Size()
	c.Batch = max(c.Batch, c.Replicas)
	return nil
}

// differs describes a difference from rank 0, or returns "" if there is no difference.
func (s agreement) differs(first agreement) string {
	switch {
	case s.Model != first.Model:
		return "its model is another than rank 0's"
	case s.Samples != first.Samples:
		return fmt.Sprintf("its inputs are %d, rank 0's %d", s.Samples, first.Samples)
	case s.Batch != first.Batch:
		return fmt.Sprintf("its batch is %d, rank 0's %d", s.Batch, first.Batch)
	case s.Stages != first.Stages:
		return fmt.Sprintf("its {stages} is %s, rank 0's %s", s.Stages, first.Stages)
	}
	return ""
}

// digest returns a hash of a model.
func digest(m *models.Model) string {
	h := sha256.New()
	h.Write(m.Graph.Text())
	for _, name := range slices.Sorted(maps.Keys(m.State)) {
		fmt.Fprintln(h, name)
		h.Write(m.State[name].Bytes)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// wanted returns which rows of a batch this rank reads; nil means all.
func (p *Predictor) wanted() func(data.Position, int) func(row int) bool {
	if p.peers == nil {
		return nil
	}
	return func(_ data.Position, rows int) func(row int) bool {
		from, to := p.driver.OwnRows(rows)
		return func(row int) bool { return row >= from && row < to }
	}
}

// badRows returns why rows of a batch could not be read, by row, on any rank.
func (p *Predictor) badRows(ctx context.Context, b *data.Batch) (map[int]error, error) {
	bad, texts := map[int]error{}, map[int]string{}
	for i := range b.Len() {
		if err := b.Bad(i); err != nil {
			bad[i], texts[i] = err, err.Error()
		}
	}
	if p.peers == nil {
		return bad, nil
	}
	mine, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	all, err := p.peers.AllGather(ctx, mine)
	if err != nil {
		return nil, err
	}
	for rank, r := range all {
		var theirs map[int]string
		if err := json.Unmarshal(r, &theirs); err != nil {
			return nil, &parallel.RankError{Rank: rank, Text: err.Error()}
		}
		for i, text := range theirs {
			bad[i] = errors.New(text)
		}
	}
	return bad, nil
}
