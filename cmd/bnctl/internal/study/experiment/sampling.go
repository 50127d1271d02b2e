package experiment

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// control is a network where each batch norm has one value per sample, so that the number of values is
// known.
const control = "mlp-bn"

// sampleAll measures the variances of small groups of samples, in the model of the study after sync training
// and in the network control.
func (s *runner) sampleAll(ctx context.Context) error {
	r := s.results
	r.Samplings = nil
	k := r.PerReplica[len(r.PerReplica)-1]
	setting := study.Setting{Arm: study.Sync, PerReplica: k, Replicas: r.Batch / k}
	if run := r.Find(setting, r.Seeds[0], s.digestOf(setting, r.Seeds[0])); run != nil {
		m, err := serialize.ReadModel(s.modelPath(setting, run.Seed))
		if err != nil {
			return err
		}
		if err := s.sample(ctx, m, run.Recipe); err != nil {
			return err
		}
	}
	if s.o.Data.Info().Pictures() && s.recipe.Model != control {
		size, _ := s.o.Model.Size() // size of the pictures of the study
		size.Channels = 0
		m, err := fit.Zoo(control, s.o.Data.Info(), models.Options{Input: size})
		if err != nil {
			return err
		}
		if err := models.Init(m, r.Seeds[0]); err != nil {
			return err
		}
		if err := s.sample(ctx, m, ""); err != nil {
			return err
		}
	}
	return s.save()
}

// sample runs m once on one batch, with a replica for every sample. It computes variances of groups from the
// moments of the replicas.
func (s *runner) sample(ctx context.Context, m *models.Model, recipe string) error {
	n := min(s.o.SamplingSamples, s.o.Data.Info().Len)
	moments, layers, err := s.momentsOf(ctx, m, n)
	if err != nil {
		return err
	}
	out := study.Sampling{Model: m.Architecture, Recipe: recipe, Samples: n}
	for i, l := range layers {
		measured := study.Layer{Name: l.Name, Elements: l.Elements}
		for k := 2; k <= n/8; k *= 2 {
			if ratio, ok := sampledVariance(moments[i], k); ok {
				measured.Ratios = append(measured.Ratios, ratio)
			}
		}
		if len(measured.Ratios) > 0 {
			out.Layers = append(out.Layers, measured)
		}
	}
	s.results.Samplings = append(s.results.Samplings, out)
	s.found(out)
	s.note("sampled variances of %s: %s, %s", out.Model, problem.Plural(len(out.Layers), "batch norm"),
		problem.Plural(n, "sample"))
	return nil
}

// momentsOf returns the moments of each of n samples, for every batch norm of m: f64 [n, 1+2C]. All samples
// are normalised with the statistics of the whole batch.
func (s *runner) momentsOf(ctx context.Context, m *models.Model, n int) (
	[]tensor.Tensor, []bn.Layer, error) {
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: n, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		return nil, nil, err
	}
	layers, err := bn.Layers(wrapped.Main)
	if err != nil {
		return nil, nil, err
	}
	devices, err := s.open(ctx, s.o.Fleet.Devices, n)
	if err != nil {
		return nil, nil, err
	}
	defer devices.Close()
	d, err := estimation.Open(ctx, m, wrapped, devices.Members, n, n)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	l, err := data.NewLoader(ctx, s.o.Data, data.Plan{Batch: n, Epochs: 1, Shuffle: true,
		Workers: s.o.Workers, Transform: fit.Transform(m, s.o.Data.Info())})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	b, err := l.Next()
	if err != nil {
		return nil, nil, err
	}
	r := estimation.Reestimation{Layers: layers,
		Input: m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name, Batch: n,
		Replicas: n}
	moments, err := r.Moments(ctx, d, b, n)
	return moments, layers, err
}

// sampledVariance returns the mean over groups of k samples of their variance, divided by the variance of all
// samples. moments are f64 [n, 1+2C], with one sample in each row. Channels that never change are left out.
// ok is false if no channel is left.
func sampledVariance(moments tensor.Tensor, k int) (study.Ratio, bool) {
	whole := bn.Pool(moments, 1)
	channels := (len(whole) - 1) / 2
	variance := func(m []float64, c int) float64 { return m[1+channels+c] / m[0] }
	var groups []float64
	for first := 0; first+k <= moments.Shape[0]; first += k {
		group := bn.Pool(moments.Rows(first, first+k), 1)
		sum, counted := 0.0, 0.0
		for c := range channels {
			truth := variance(whole, c) * whole[0] / (whole[0] - 1)
			if truth > 0 {
				sum += variance(group, c) / truth
				counted++
			}
		}
		if counted == 0 {
			return study.Ratio{}, false
		}
		groups = append(groups, sum/counted)
	}
	spread := math.Sqrt(stat.Variance(groups, nil) / float64(len(groups)))
	return study.Ratio{PerReplica: k, Biased: stat.Mean(groups, nil), Error: spread}, true
}
