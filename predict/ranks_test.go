package predict_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// said returns the text that All yields for a source on one of several ranks.
func said(p *fabric.Peers, batch int) (text string, err error) {
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:23", data.Options{Split: data.Test})
	if err != nil {
		return "", err
	}
	defer src.Close()
	m, err := modelfile.Start("lenet-bn", src.Info(), modelfile.StartOptions{Seed: 1})
	if err != nil {
		return "", err
	}
	on, err := predict.Open(ctx, m.Model, predict.Options{Batch: batch, Peers: p, Samples: src.Info().Len,
		Fleet: fleet.Options{Devices: "ref", Peers: p}})
	if err != nil {
		return "", err
	}
	defer on.Close()
	_, err = on.All(ctx, src, predict.Reading{}, func(sample int, outs []tensor.Tensor) error {
		text += fmt.Sprintln(sample, outs[0].F32())
		return nil
	})
	return text, err
}

// TestRanksPredictTheSame checks that rank 0 yields all predictions of one process, in its
// order, and that the others yield nothing.
func TestRanksPredictTheSame(t *testing.T) {
	want, err := said(nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{2, 3} {
		texts, errs := make([]string, size), make([]error, size)
		var all sync.WaitGroup
		for i, r := range inprocess.New(size) {
			all.Go(func() {
				p := fabric.New(r, 20*time.Second)
				texts[i], errs[i] = said(p, 4)
				errs[i] = errors.Join(errs[i], p.Close())
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if i == 0 && text != want || i > 0 && text != "" {
				t.Errorf("rank %d of %d says\n%swant, of rank 0,\n%s", i, size, text, want)
			}
		}
	}
}
