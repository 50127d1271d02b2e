package predict_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// pixelModel returns a small network for the masks of shapes, with new weights.
func pixelModel(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("unet-bn", models.Options{Input: models.Size{Height: 16, Width: 16, Channels: 3}})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func scenes(t *testing.T, spec string) data.Source {
	t.Helper()
	src, err := data.Open(t.Context(), spec, data.Options{Split: data.Test})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// evaluated is the figures of a rank, or of a process that is alone.
func evaluated(t *testing.T, m *models.Model, p *fabric.Peers, devices string, batch int) (
	*evaluation.Evaluation, error) {
	src := scenes(t, "shapes:5")
	on, err := predict.Open(t.Context(), m, predict.Options{Batch: batch, Peers: p, Samples: src.Info().Len,
		Fleet: fleet.Options{Devices: devices, Peers: p}})
	if err != nil {
		return nil, err
	}
	defer on.Close()
	return on.Evaluate(t.Context(), src, 1)
}

// mIoU and losses of masks are the same bit for bit over devices, batches and ranks.
func TestMaskFiguresAreTheSame(t *testing.T) {
	m := pixelModel(t)
	want, err := evaluated(t, m, nil, "ref", 5)
	if err != nil || want.Counted != 5*16*16 || !(want.LossSum > 0) {
		t.Fatalf("%+v, %v", want, err)
	}
	for devices, batch := range map[string]int{"ref": 1, "2xref": 3, "3xref": 100} {
		if got, err := evaluated(t, m, nil, devices, batch); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, batch %d: %+v, %v, want %+v", devices, batch, got, err, want)
		}
	}
	for _, size := range []int{2, 3} {
		figures, errs := make([]*evaluation.Evaluation, size), make([]error, size)
		var all sync.WaitGroup
		for i, r := range inprocess.New(size) {
			all.Go(func() {
				p := fabric.New(r, 20*time.Second)
				figures[i], errs[i] = evaluated(t, m, p, "ref", 4)
				errs[i] = errors.Join(errs[i], p.Close())
			})
		}
		all.Wait()
		for rank, got := range figures {
			if errs[rank] != nil || !reflect.DeepEqual(got, want) {
				t.Error(fmt.Sprintf("rank %d of %d:", rank, size), got, errs[rank], "want", want)
			}
		}
	}
}
