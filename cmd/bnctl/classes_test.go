package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// coloursGraph is a network that distinguishes red, green and blue. Its weights are the identity, so that
// class k is predicted if channel k is the brightest.
const coloursGraph = `bnctl graph 1
graph "colours"

state fc.weight f32[3,3] weight he_normal(0)

func main(x rows u8[4,4,3]) {
  image = image(x)
  mean = global_avg_pool(image)
  flat = reshape(mean, shape=[3])
  fc = dense(flat, @fc.weight)
  return logits rows = fc
}
`

// colours writes the model of coloursGraph with the given labels, and returns its path.
func colours(t *testing.T, labels ...string) string {
	t.Helper()
	g, err := graph.ParseGraph([]byte(coloursGraph))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	m.State = map[string]tensor.Tensor{"fc.weight": tensor.Of([]float32{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3)}
	m.Preprocess.Known, m.Labels = true, labels
	path := filepath.Join(t.TempDir(), "colours.bnm")
	if _, err := serialize.WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// painted writes a folder with two pictures for each colour, in subfolders with the names of the colours. v
// is the brightness of the pictures.
func painted(t *testing.T, v uint8, names ...string) (spec string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		c := map[string]color.NRGBA{"red": {R: v, A: 255}, "green": {G: v, A: 255}}[name]
		if c.A == 0 {
			c = color.NRGBA{B: v, A: 255}
		}
		m := image.NewNRGBA(image.Rect(0, 0, 4, 4))
		for i := range 16 {
			m.SetNRGBA(i%4, i/4, c)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"1.png", "2.png"} {
			path := filepath.Join(dir, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return "folder:" + dir
}

// evaluated runs a command line, and returns the last event with the given name.
func evaluated(t *testing.T, event string, args ...string) (code int, e map[string]any, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), append([]string{"bnctl", "--json"}, args...), &stdout, &stderr)
	for line := range strings.SplitSeq(stdout.String(), "\n") {
		var is map[string]any
		if json.Unmarshal([]byte(line), &is) == nil && is["event"] == event {
			e = is
		}
	}
	return code, e, stderr.String()
}

// The classes of the data are mapped to the labels of the model by name. If the model has no labels, they are
// mapped in their order, provided that the numbers are equal. Everything else is refused. The folder has the
// order blue, green, red, and the model has red, green, blue. So if classes were mapped in their order, only
// green would be classified correctly.
func TestEvalMapsClassesByName(t *testing.T) {
	for _, c := range []struct {
		name     string
		labels   []string // labels of the model
		data     []string // classes of the data
		args     []string
		code     int
		accuracy float64
		says     string
	}{
		{"names", []string{"red", "green", "blue"}, []string{"blue", "green", "red"}, nil, exitDone, 1, ""},
		{"names, one missing", []string{"red", "green", "blue"}, []string{"blue", "red"}, nil, exitDone, 1,
			"the data lacks 1 class of the model: green"},
		{"none, as many", nil, []string{"blue", "green", "red"}, nil, exitDone, 1. / 3,
			"taken for those of the data in their order, 3 (blue, green, red); --labels says others"},
		{"none, fewer", nil, []string{"blue", "red"}, nil, exitMisused, 0, "--labels: the model has no names for " +
			"its 3 classes, and folder has 2 (blue, red): which is which is not known"},
		{"none, more", nil, []string{"blue", "green", "red", "sky"}, nil, exitMisused, 0, "--labels: the model has no"},
		{"told, fewer", nil, []string{"blue", "red"}, []string{"--labels", "red,green,blue"}, exitDone, 1, "green"},
		{"told, in order", nil, []string{"blue", "green", "red"}, []string{"--labels", "red,green,blue"}, exitDone,
			1, ""},
		{"another", []string{"red", "green", "blue"}, []string{"blue", "red", "sky"}, nil, exitFailed, 0,
			"the classes differ: the model has 3 (red, green, blue), folder has 3 (blue, red, sky): sky is none"},
		{"renamed", []string{"rot", "grün", "blau"}, []string{"blue", "red"}, []string{"--labels", "red,green,blue"},
			exitDone, 1, "green"},
	} {
		args := append([]string{"eval", colours(t, c.labels...), "--data", painted(t, 250, c.data...), "--devices",
			"ref"}, c.args...)
		code, e, errs := evaluated(t, "eval", args...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit %d, want %d; says %s, want %q", c.name, code, c.code, errs, c.says)
		}
		if code != exitDone {
			continue
		}
		if e["accuracy"] != c.accuracy || e["samples"] != 2*float64(len(c.data)) {
			t.Errorf("%s: accuracy %v of %v, want %v", c.name, e["accuracy"], e["samples"], c.accuracy)
		}
		if green, there := e["per_class"].(map[string]any)["green"]; !there || (len(c.data) == 2) != (green == nil) {
			t.Errorf("%s: per class %v", c.name, e["per_class"])
		}
	}
}

// If training continues with the head of a model, the rows of the head are sorted like the labels of the
// data. After steps with a very small learning rate every picture is still classified correctly. Validation
// data may lack a class.
func TestTrainingMovesRowsByLabel(t *testing.T) {
	model, graph := colours(t, "red", "green", "blue"), filepath.Join(t.TempDir(), "colours.graph")
	if err := os.WriteFile(graph, []byte(coloursGraph), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from, data, val []string
	}{
		"model": {[]string{"--model", model}, []string{"blue", "green", "red"}, []string{"blue", "red"}},
		"init": {[]string{"--model", graph, "--init", model}, []string{"blue", "green", "red"},
			[]string{"red"}},
		"fewer":        {[]string{"--model", model}, []string{"blue", "red"}, []string{"red"}},
		"labels given": {[]string{"--model", colours(t), "--labels", "red,green,blue"}, []string{"blue", "red"}, nil},
		"one new": {[]string{"--model", colours(t, "red", "green", "sky")}, []string{"blue", "green", "red"},
			[]string{"green", "red"}},
	} {
		out := filepath.Join(t.TempDir(), "m.bnm")
		args := append([]string{"train", "--data", painted(t, 250, c.data...), "--steps", "1", "--batch", "4",
			"--replicas", "1", "--lr", "1e-12", "--weight-decay", "0", "--devices", "ref", "-o", out}, c.from...)
		if c.val != nil {
			args = append(args, "--val", painted(t, 200, c.val...))
		}
		code, e, errs := evaluated(t, "epoch", args...)
		if code != exitDone || c.val != nil && e["val_accuracy"] != 1. {
			t.Errorf("%s: exit %d, validation %v: %s", name, code, e["val_accuracy"], errs)
		}
		code, e, errs = evaluated(t, "eval", "eval", out, "--data", painted(t, 250, "blue", "red"), "--devices", "ref")
		if code != exitDone || e["accuracy"] != 1. {
			t.Errorf("%s: exit %d, accuracy %v: %s", name, code, e["accuracy"], errs)
		}
	}
	code, _, errs := evaluated(t, "epoch", "train", "--model", model, "--data", painted(t, 250, "blue", "red"), "--val",
		painted(t, 200, "blue", "green"), "--steps", "1", "--batch", "4", "--devices", "ref", "-o",
		filepath.Join(t.TempDir(), "n.bnm"))
	if code != exitFailed || !strings.Contains(errs, "--val has 2 (blue, green)") {
		t.Errorf("a class that train lacks: exit %d: %s", code, errs)
	}
	code, _, errs = evaluated(t, "epoch", "train", "--model", "mlp-bn", "--data", "glyphs:40", "--labels", "a,b")
	if code != exitMisused || !strings.Contains(errs, "--labels: means nothing here") {
		t.Errorf("labels of a new model: exit %d: %s", code, errs)
	}
}
