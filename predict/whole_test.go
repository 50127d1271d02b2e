package predict_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// pointwise is a network in which the scores of a pixel depend on that pixel alone.
const pointwise = `bnctl graph 1
graph "pointwise"
state conv.weight f32[6,3,1,1] weight he_normal(0)
func main(x rows u8[16,16,3]) {
  image = image(x)
  conv = conv(image, @conv.weight)
  return logits rows = conv
}
`

// neighbourly is a network in which the scores of a pixel depend on its surroundings, and therefore
// on the edges of a window.
const neighbourly = `bnctl graph 1
graph "neighbourly"
state conv.weight f32[6,3,3,3] weight he_normal(0)
func main(x rows u8[16,16,3]) {
  image = image(x)
  conv = conv(image, @conv.weight, pad=[1,1,1,1])
  return logits rows = conv
}
`

func pointModel(t *testing.T) *models.Model { return graphModel(t, pointwise) }

func graphModel(t *testing.T, text string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err == nil {
		err = models.Init(m, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Preprocess.Known = true
	return m
}

// photos is a folder of pictures of these widths and heights.
func photos(t *testing.T, sizes ...[2]int) string {
	t.Helper()
	dir := t.TempDir()
	for i, s := range sizes {
		m := image.NewRGBA(image.Rect(0, 0, s[0], s[1]))
		for at := range m.Pix {
			m.Pix[at] = byte(at*(31+i)) | byte(at%4/3*255)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".png"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inputs(t *testing.T, path string) data.Source {
	t.Helper()
	src, err := data.OpenInputs(t.Context(), []string{path}, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// scoresOf returns the scores of all pictures of a path.
func scoresOf(t *testing.T, m *models.Model, path string, w predict.Whole, o predict.Options) (
	all []tensor.Tensor, bad []error, err error) {
	t.Helper()
	src := inputs(t, path)
	o.Fleet.Peers = o.Peers
	p, err := predict.Open(t.Context(), m, o)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	bad, err = p.Scores(t.Context(), src, w, predict.Reading{GoOn: true}, func(i int, s tensor.Tensor) error {
		all = append(all, tensor.Of(append([]float32{}, s.F32()...), s.Shape...))
		return nil
	})
	return all, bad, err
}

func onRef(devices string, batch int) predict.Options {
	return predict.Options{Batch: batch, Fleet: fleet.Options{Devices: devices}}
}

// If the scores of a pixel depend on that pixel alone, a picture in windows with any overlap has the scores
// that the weights define.
func TestWindowsAreStitched(t *testing.T) {
	m, dir := pointModel(t), photos(t, [2]int{40, 23}, [2]int{9, 30}, [2]int{16, 16})
	src, weights := inputs(t, dir), m.State["conv.weight"].F32()
	for _, overlap := range []float64{0, 0.5, 0.9} {
		got, bad, err := scoresOf(t, m, dir, predict.Whole{Fit: data.WindowsFit, Overlap: overlap}, onRef("ref", 5))
		if err != nil || bad != nil || len(got) != 3 {
			t.Fatalf("%d, %v, %v", len(got), bad, err)
		}
		for i, scores := range got {
			picture, err := src.Sample(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			places := picture.Shape[0] * picture.Shape[1]
			if scores.Shape[1] != picture.Shape[0] || scores.Shape[2] != picture.Shape[1] {
				t.Fatalf("%v of %v", scores, picture)
			}
			for at := range places {
				for c := range 6 {
					want := 0.0
					for k := range 3 {
						want += float64(float64(weights[3*c+k]) * float64(picture.Bytes[3*at+k]) / 255)
					}
					if v := float64(scores.F32()[c*places+at]); math.Abs(v-want) > 1e-5 {
						t.Fatalf("overlap %g, picture %d, class %d, pixel %d: %g, want %g", overlap, i, c, at, v, want)
					}
				}
			}
		}
	}
}

// Scores of whole pictures depend on neither batch, devices nor ranks, and only the first rank receives
// them. All fits give the same scores for a picture of the input's size.
func TestWholePicturesAreTheSame(t *testing.T) {
	m, dir := graphModel(t, neighbourly), photos(t, [2]int{40, 23}, [2]int{16, 16}, [2]int{9, 30})
	plain, _, err := scoresOf(t, m, dir, predict.Whole{}, onRef("ref", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []data.Fit{data.ScaleFit, data.ResizeFit, data.PadFit, data.WindowsFit} {
		w := predict.Whole{Fit: f, Overlap: 0.4}
		want, bad, err := scoresOf(t, m, dir, w, onRef("ref", 1))
		if err != nil || bad != nil || !reflect.DeepEqual(want[1], plain[1]) {
			t.Fatalf("%s: %v, %v: the second differs from what the model says", f, bad, err)
		}
		if got, _, err := scoresOf(t, m, dir, w, onRef("2xref", 5)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: two devices say other scores, %v", f, err)
		}
		all, errs := make([][]tensor.Tensor, 2), make([]error, 2)
		var wait sync.WaitGroup
		for i, r := range inprocess.New(2) {
			wait.Go(func() {
				o := onRef("ref", 3)
				o.Peers = fabric.New(r, 20*time.Second)
				all[i], _, errs[i] = scoresOf(t, m, dir, w, o)
				errs[i] = errors.Join(errs[i], o.Peers.Close())
			})
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil || !reflect.DeepEqual(all[0], want) || all[1] != nil {
			t.Errorf("%s: two ranks say other scores, %v", f, err)
		}
	}
}

// A picture that cannot be read is reported once, and does not affect the others.
func TestBadPictureInWindows(t *testing.T) {
	dir := photos(t, [2]int{40, 23}, [2]int{40, 23}, [2]int{9, 30})
	whole, err := os.ReadFile(filepath.Join(dir, "b.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.png"), whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	got, bad, err := scoresOf(t, pointModel(t), dir, predict.Whole{Fit: data.WindowsFit}, onRef("ref", 4))
	if err != nil || len(bad) != 1 || len(got) != 2 || got[1].Shape[2] != 9 {
		t.Errorf("%v, %v, %v", got, bad, err)
	}
}

// Masks are evaluated at their original size: every pixel counts, as the class with the largest of
// its Scores.
func TestEvaluateWhole(t *testing.T) {
	m := pointModel(t)
	src := scenes(t, "shapes:2")
	figures := func(w predict.Whole, devices string) *evaluation.Evaluation {
		p, err := predict.Open(t.Context(), m, onRef(devices, 3))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		e, err := p.EvaluateWhole(t.Context(), src, w, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := figures(predict.Whole{}, "ref"); e.Counted != 2*16*16 {
		t.Errorf("%d pixels of the cropped pictures", e.Counted)
	}
	w := predict.Whole{Fit: data.WindowsFit}
	got := figures(w, "ref")
	if got.Counted != 2*64*64 || !reflect.DeepEqual(figures(w, "2xref"), got) {
		t.Errorf("%d pixels, or two devices differ", got.Counted)
	}
	p, err := predict.Open(t.Context(), m, onRef("ref", 3))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	correct := 0
	_, err = p.Scores(t.Context(), src, w, predict.Reading{}, func(i int, s tensor.Tensor) error {
		label, err := src.Label(t.Context(), i)
		for at := range label {
			best := 0
			for c := range 6 {
				if s.F32()[c*64*64+at] > s.F32()[best*64*64+at] {
					best = c
				}
			}
			if int32(best) == label[at] {
				correct++
			}
		}
		return err
	})
	if err != nil || got.Correct != correct || got.Samples != 2 || !got.Masks {
		t.Errorf("%d correct, want %d, %v", got.Correct, correct, err)
	}
	var wrong *problem.Error
	_, err = p.EvaluateWhole(t.Context(), scenes(t, "glyphs:2"), w, 1, nil)
	if !errors.As(err, &wrong) || wrong.Field != "fit" {
		t.Errorf("glyphs: %v", err)
	}
}
