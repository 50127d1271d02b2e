package train

import (
	"context"
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// blocks are pictures of 48x40 pixels with up to three bright blocks of two classes. Every fifth picture has
// no block, and one block is ignored.
type blocks struct{ n int }

func (b blocks) Info() data.Info {
	return data.Info{Kind: "blocks", Len: b.n, DType: tensor.U8, Shape: []int{48, 40, 3}, Labelled: true, Boxes: true,
		LabelShape: []int{3, data.BoxFields}, Classes: []string{"high", "flat"}}
}

func (b blocks) objects(i int) (all []data.Box) {
	d := tensor.NewPhilox(5, tensor.StreamAugment)
	draws := d.Draws(0, uint64(i))
	for k := range i % 5 {
		x, y, w, h := draws.Intn(20), draws.Intn(24), 4+draws.Intn(10), 8+draws.Intn(14)
		box := data.Box{Corners: [4]float32{float32(x), float32(y), float32(x + w), float32(y + h)}}
		if w > h {
			box.Class = 1
		}
		if k == 2 {
			box.Class = -2
		}
		if k < 3 {
			all = append(all, box)
		}
	}
	return all
}

func (b blocks) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	x := tensor.New(tensor.U8, 48, 40, 3)
	for k, o := range b.objects(i) {
		for y := int(o.Corners[1]); y < int(o.Corners[3]); y++ {
			for at := 3 * (40*y + int(o.Corners[0])); at < 3*(40*y+int(o.Corners[2])); at++ {
				x.Bytes[at] = byte(120 + 50*k)
			}
		}
	}
	return x, nil
}

func (b blocks) Label(_ context.Context, i int) ([]int32, error) {
	label := make([]int32, 3*data.BoxFields)
	all := b.objects(i)
	for k := range 3 {
		box := data.Box{Class: data.NoBox}
		if k < len(all) {
			box = all[k]
		}
		box.Put(label[k*data.BoxFields:])
	}
	return label, nil
}

func (b blocks) Name(i int) string                           { return fmt.Sprint("block ", i) }
func (b blocks) Fingerprint(context.Context) (string, error) { return "blocks", nil }
func (b blocks) Close() error                                { return nil }

func boxBench(t *testing.T, samples int) *bench {
	b := newBench(t, 16)
	b.source, b.recipe.Model = blocks{samples}, "cells"
	b.recipe.Data = recipe.Data{Kind: "blocks", Samples: samples, Classes: 2}
	b.recipe.Loss, b.recipe.Augment, b.recipe.LR = "boxes", augmentation.Segment(), 0.01
	return b
}

// One recipe of a detector gives one template, on 1 to 4 devices and with other devices after a stop,
// with every batch-norm mode and every policy for a smaller last batch.
func TestDetectorOnDevices(t *testing.T) {
	for name, change := range map[string]func(r *recipe.Recipe){
		"sync":       func(r *recipe.Recipe) {},
		"replica":    func(r *recipe.Recipe) { r.BN = bn.Replica },
		"ema, adamw": func(r *recipe.Recipe) { r.EMA, r.EMAWarmup, r.Optimizer, r.LR = 0.9, true, "adamw", 0.01 },
		"accumulate": func(r *recipe.Recipe) { r.Batch, r.Accumulate = 8, 2 },
		"frozen":     func(r *recipe.Recipe) { r.BN, r.Init = bn.Frozen, "given" },
		"apart":      func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "periodic:2" },
		"repeat":     func(r *recipe.Recipe) { r.Tail = "repeat" },
		"mosaic":     func(r *recipe.Recipe) { r.Augment = augmentation.MustParse("mosaic flip jitter") },
		"yolox, mosaic": func(r *recipe.Recipe) {
			r.Loss, r.MostBoxes, r.Augment = "yolox", 12, augmentation.MustParse("mosaic flip")
		},
		"fcos":          func(r *recipe.Recipe) { r.Model = "fcos" },
		"fcos, replica": func(r *recipe.Recipe) { r.Model, r.BN, r.Batch, r.Accumulate = "fcos", bn.Replica, 8, 2 },
		"retinanet": func(r *recipe.Recipe) {
			r.Model, r.Augment = "retinanet", augmentation.MustParse("mosaic flip")
		},
		"blend": func(r *recipe.Recipe) { r.Augment = augmentation.MustParse("blend flip") },
		"ssd":   func(r *recipe.Recipe) { r.Model = "ssd" },
		"ssd, replica": func(r *recipe.Recipe) {
			r.Model, r.BN, r.Batch, r.Accumulate = "ssd", bn.Replica, 8, 2
		},
		"retinanet v2": func(r *recipe.Recipe) { r.Model, r.BN = "retinanet2", bn.Replica },
		"yolox":        func(r *recipe.Recipe) { r.Loss, r.MostBoxes = "yolox", 3 },
		"yolox, replica": func(r *recipe.Recipe) {
			r.Loss, r.MostBoxes, r.BN, r.Batch, r.Accumulate = "yolox", 3, bn.Replica, 8, 2
		},
		"yolox, apart": func(r *recipe.Recipe) {
			r.Loss, r.MostBoxes, r.BN, r.WeightSync = "yolox", 3, bn.Replica, "periodic:2"
		},
		"yolox, late": func(r *recipe.Recipe) {
			r.Loss, r.MostBoxes, r.BN, r.WeightSync = "yolox", 3, bn.Replica, "async:1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := boxBench(t, 42)
			change(&b.recipe)
			want := b.template(New(t.Context(), &b.recipe, b.model(), b.config(1)))
			for devices := 2; devices <= 4; devices++ {
				if testing.Short() && devices != 3 {
					continue
				}
				if got := b.template(New(t.Context(), &b.recipe, b.model(), b.config(devices))); got != want {
					t.Errorf("%d devices: template %s, on one device %s", devices, got, want)
				}
			}
			if got := b.resumed(3); got != want {
				t.Errorf("stopped and resumed: template %s, without a stop %s", got, want)
			}
		})
	}
}

// A batch without an object trains: all cells are background, and the loss is finite.
func TestPicturesWithoutObjects(t *testing.T) {
	b := boxBench(t, 16)
	b.source = unlabelled{blocks{16}}
	c := b.config(2)
	c.Events = func(e Event) {
		if e, ok := e.(EpochDone); ok && (!tensor.IsFinite(e.TrainLoss) || !tensor.IsFinite(float64(*e.ValLoss)) ||
			e.TrainLoss <= 0) {
			t.Errorf("%+v", e)
		}
	}
	s, err := New(t.Context(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// unlabelled has blocks without boxes.
type unlabelled struct{ blocks }

func (u unlabelled) Label(context.Context, int) ([]int32, error) {
	label := make([]int32, 3*data.BoxFields)
	for k := range 3 {
		data.Box{Class: data.NoBox}.Put(label[k*data.BoxFields:])
	}
	return label, nil
}
