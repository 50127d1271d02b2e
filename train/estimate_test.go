package train

import (
	"context"
	"io"
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/recipe"
)

// The first batch norm of this network sees the images themselves.
func init() {
	networks["seen"] = `bnctl graph 1
graph "seen"

state bn.weight f32[1] gamma ones
state bn.bias f32[1] beta zeros
state bn.running_mean f32[1] mean zeros
state bn.running_var f32[1] variance ones
state fc.weight f32[10,784] weight he_normal(0)

func main(x rows u8[28,28,1]) {
  image = image(x)
  bn = batch_norm(image, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  flat = reshape(bn, shape=[784])
  fc = dense(flat, @fc.weight)
  return logits rows = fc
}
`
}

// imageMoments returns the mean and the variance of the pixels, from 0 to 1, of the first samples in
// the order of epoch 0. It computes them in two passes.
func imageMoments(t *testing.T, b *bench, augment augmentation.Augmentation, samples int) (
	mean, variance float64,
) {
	l, err := data.NewLoader(context.Background(), b.source, data.Plan{Batch: 1, Seed: b.recipe.Seed,
		Shuffle: true, Transform: data.Transform{Augment: augment}, Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var values []float64
	for range samples {
		batch, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range batch.X.Bytes {
			values = append(values, float64(v)/255)
			mean += float64(v) / 255
		}
		batch.Release()
	}
	mean /= float64(len(values))
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(values)-1)
}

// Statistics are estimated on augmented images, as in training, unless the recipe requests
// plain ones. The expected values are computed here from the images.
func TestEstimationTakesTheTrainingImages(t *testing.T) {
	const samples = 30
	for _, test := range []struct {
		name   string
		change func(r *recipe.Recipe)
		want   augmentation.Augmentation
	}{
		{"augmented", func(*recipe.Recipe) {}, augmentation.CIFAR()},
		{"plain", func(r *recipe.Recipe) { r.BNPrecisePlain = true }, augmentation.Augmentation{}},
		{"average", func(r *recipe.Recipe) { r.EMA = 0.5 }, augmentation.CIFAR()},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, 42)
			b.recipe.Model, b.recipe.Augment, b.recipe.BNPrecise = "seen", augmentation.CIFAR(), samples
			test.change(&b.recipe)
			c := b.config(2)
			s, err := New(context.Background(), &b.recipe, b.model(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			m, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := imageMoments(t, b, test.want, samples)
			plain, _ := imageMoments(t, b, augmentation.Augmentation{}, samples)
			augmented, _ := imageMoments(t, b, augmentation.CIFAR(), samples)
			if math.Abs(plain-augmented) < 1e-4 {
				t.Fatalf("the test cannot tell means %g and %g apart", plain, augmented)
			}
			gotMean, gotVariance := float64(m.State["bn.running_mean"].F32()[0]),
				float64(m.State["bn.running_var"].F32()[0])
			if math.Abs(gotMean-mean) > 1e-6 || math.Abs(gotVariance-variance) > 1e-5 {
				t.Errorf("mean %.7g, variance %.7g; want %.7g, %.7g", gotMean, gotVariance, mean, variance)
			}
		})
	}
}

// A recipe that estimates no statistics rejects the option for plain images.
func TestPlainImagesForNothing(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.BNPrecisePlain = true
	if err := b.recipe.Check(); err == nil {
		t.Error("it was accepted")
	}
	b.recipe.BNPrecise, b.recipe.BN = 8, bn.Replica
	if err := b.recipe.Check(); err != nil {
		t.Error(err)
	}
}
