package tensorflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAverages uses the averages that exist, like variables_to_restore().
func TestAverages(t *testing.T) {
	for _, c := range []struct {
		index string
		ema   bool
		want  string
	}{
		{"averages/model.ckpt-1000", false, "bn/moving_mean [7 8], conv/weights [1 2], ExponentialMovingAverage: {ema} " +
			"takes them"},
		{"averages/model.ckpt-1000", true, "bn/moving_mean [7 8], conv/weights [1.5 2.5], scale [3], the averages of 2 " +
			"variables were taken; 1 variable as they are, having none: \"bn/moving_mean\""},
		{"slots", false, "dense/kernel [1 2], .OPTIMIZER_SLOT/optimizer/average: {ema} takes them"},
		{"slots", true, "dense/kernel [4 5], the averages of 1 variable were taken"},
		{"averages_differ", true, "the average of conv/weights f32[2] is conv/weights f32[1]"},
		{"loop", true, "the checkpoint holds no averages of its variables"},
	} {
		f, err := Read("testdata/cases/"+c.index+".index", Options{EMA: c.ema})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.index, err, c.want)
			}
			continue
		}
		defer f.Close()
		var got []string
		for _, x := range f.Tensors {
			v, err := x.Load()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %v", x.Name, v.F32()))
		}
		for _, g := range f.Left {
			if g.Advice != "" {
				got = append(got, g.Name+": "+g.Advice)
			}
		}
		for _, n := range f.Findings {
			got = append(got, n.Text)
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s, averages %v: got %s\nwant %s", c.index, c.ema, all, c.want)
		}
	}
}

// TestLocate finds the index by all names that people have for a checkpoint.
func TestLocate(t *testing.T) {
	dir := "testdata/cases/averages"
	index := filepath.Join(dir, "model.ckpt-1000.index")
	for name, want := range map[string]string{"": index, "model.ckpt-1000": index, "checkpoint": index,
		"model.ckpt-1000.data-00000-of-00001": index, "model.ckpt-1000.index": "", "model.ckpt-2000": ""} {
		if got, err := Locate(filepath.Join(dir, name)); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	dir = t.TempDir()
	for name, text := range map[string]string{"a.index": "", "b.index": "", "c.data-00000-of-00001": "", "a.meta": "",
		"d.meta": "", "checkpoint": "model_checkpoint_path: \"run/b\"", "gone/checkpoint": "model_checkpoint_path: \"z\"",
		"text/checkpoint": "nothing of the kind", "up/checkpoint": "model_checkpoint_path: \"..\""} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"":                      "holds 2 checkpoints; name one of the .index files; the latest, as the file checkpoint says, is ",
		"c.data-00000-of-00001": "elements of a TensorFlow checkpoint, without its index",
		"a.meta":                "the graph of a TensorFlow checkpoint, without weights; name ",
		"gone/checkpoint":       `says that the latest checkpoint is "z", and `,
		"up/checkpoint":         `says that the latest checkpoint is "..", and `,
		"d.meta":                "", "text/checkpoint": "",
	} {
		got, err := Locate(filepath.Join(dir, name))
		if want == "" && (err != nil || got != "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v, want %q", name, got, err, want)
		}
	}
}
