package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// begun returns the log of a run that has begun. The folder of the log has the events of the run.
func begun(t *testing.T) *Log {
	t.Helper()
	l := NewLog(folderOf(t, logOf(0, 2, 2, "sync"), nil), t.Logf)
	l.Show(train.Started{Recipe: recipe.Default("lenet-bn")})
	b, err := os.ReadFile(filepath.Join(l.folder, metricsFile))
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(train.Started{Recipe: recipe.Default("lenet-bn")})
	if err != nil {
		t.Fatal(err)
	}
	b = append([]byte(`{"event":"start",`+string(line[1:])), b[bytes.IndexByte(b, '\n'):]...)
	if err := os.WriteFile(filepath.Join(l.folder, metricsFile), b, 0o666); err != nil {
		t.Fatal(err)
	}
	return l
}

// written returns the page that the log l writes, and the evaluation that it stores.
func written(t *testing.T, l *Log) (string, *evaluated) {
	t.Helper()
	if err := l.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(l.Page())
	kept, keptErr := os.ReadFile(filepath.Join(l.folder, evaluationFile))
	var e evaluated
	if err != nil || keptErr != nil || json.Unmarshal(kept, &e) != nil {
		t.Fatal(err, keptErr, string(kept))
	}
	return string(page), &e
}

// The worst predicted masks are shown as pictures, with the label next to the prediction, and with a key of
// the classes. If two scenes are wholly predicted as background, the scene with the larger shapes comes
// first.
func TestMistakesOfMasks(t *testing.T) {
	const side, classes, scenes = 64, 6, 3
	src, err := data.Open(t.Context(), "shapes:3", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	l, e := begun(t), &evaluation.Evaluation{Masks: true}
	observe, shapes := l.Observe().ObserveMask, make([]int, scenes)
	for i := range scenes {
		label, err := src.Label(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		scores := tensor.New(tensor.F32, 1, classes, side, side)
		for at, class := range label {
			if class != 0 {
				shapes[i]++
			}
			if i != 1 { // only picture 1 is predicted correctly
				class = 0
			}
			scores.F32()[int(class)*side*side+at] = 1
		}
		observe(i, label, scores)
		if err := e.Add(scores, tensor.Of(label, 1, side*side), false); err != nil {
			t.Fatal(err)
		}
	}
	m := &models.Model{Labels: []string{"background", "<disc>", "square", "triangle", "ring", "cross"}}
	l.Evaluated(train.Evaluated{Epoch: 2, Evaluation: e, Source: src, Model: m})
	page, kept := written(t, l)
	worst, other := 0, 2
	if shapes[2] > shapes[0] {
		worst, other = 2, 0
	}
	if len(kept.Mistakes) != 2 || kept.Mistakes[0].Sample != src.Name(worst) || kept.Wrong != 2 ||
		kept.Mistakes[1].Sample != src.Name(other) || len(kept.Key) == 0 {
		t.Fatalf("%d kept, key %v", len(kept.Mistakes), kept.Key)
	}
	picture, err := png.Decode(bytes.NewReader(kept.Mistakes[0].Picture))
	if err != nil || picture.Bounds().Dx() < 2*pictureSide {
		t.Errorf("picture %v, %v: want two side by side", picture.Bounds(), err)
	}
	wants(t, page, "2 of 3 samples: the largest share of wrong pixels first", "in place of",
		fmt.Sprintf("%d of 4096 pixels", shapes[worst]), `style="background:#800000"`) // class 1 in VOC's colours
}

// Reports about models with labels that do not exclude each other, and about models of numbers, also show
// pictures of wrong predictions.
func TestMistakesOfElements(t *testing.T) {
	src := pictures(t)
	bits := func(v float32) int32 { return int32(math.Float32bits(v)) }
	for _, c := range []struct {
		name  string
		info  func(*data.Info)
		of    *evaluation.Evaluation
		known [][]int32
		wants []string
	}{
		{"labels", func(i *data.Info) { i.MultiLabel = true }, &evaluation.Evaluation{MultiLabel: true},
			[][]int32{{1, 0}, {0, 1}}, []string{"1 of 2 samples: the largest loss first", "missed", "wrongly"}},
		{"numbers", func(i *data.Info) { i.Targets = []string{"age", "size"} },
			&evaluation.Evaluation{Targets: make([]evaluation.TargetError, 2)},
			[][]int32{{bits(2), bits(-1)}, {bits(7), bits(-1)}}, []string{"the largest error first", "is 7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, scores, known := begun(t), tensor.New(tensor.F32, 2, 2), tensor.New(tensor.I32, 2, 2)
			copy(scores.F32(), []float32{2, -1, 2, -1})
			observe := l.Observe().ObserveAll
			for i, k := range c.known {
				copy(known.I32()[2*i:], k)
				observe(i, k, []float64{2, -1})
			}
			if err := c.of.Add(scores, known, false); err != nil {
				t.Fatal(err)
			}
			other := &otherInfo{src, src.Info()}
			c.info(&other.info)
			l.Evaluated(train.Evaluated{Epoch: 1, Evaluation: c.of, Source: other,
				Model: &models.Model{Labels: []string{"red", "blue"}}})
			page, kept := written(t, l)
			if len(kept.Mistakes) != 1 || kept.Mistakes[0].Sample != src.Name(1) || kept.Mistakes[0].Picture == nil {
				t.Errorf("%d mistakes are kept, want sample 1: %+v", len(kept.Mistakes), kept.Mistakes)
			}
			wants(t, page, c.wants...)
		})
	}
}

// otherInfo is a source with a different Info.
type otherInfo struct {
	data.Source
	info data.Info
}

func (o *otherInfo) Info() data.Info { return o.info }
