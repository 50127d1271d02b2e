package doctor

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// sickModel returns mlp-bn with an infinite weight, and that weight's name.
func sickModel(t *testing.T) (*models.Model, string) {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Graph.State {
		if s.Role.Trained() && s.Role != graph.Gamma {
			m.State[s.Name].F32()[1] = float32(math.Inf(-1))
			return m, s.Name
		}
	}
	t.Fatal("no weight")
	return nil, ""
}

// The findings are the same for a model, for a template, for a file of tensors and for
// tensors that are being copied.
func TestTheSameIsFoundEverywhere(t *testing.T) {
	m, weight := sickModel(t)
	dir := t.TempDir()
	template, tensors := filepath.Join(dir, "m.bnm"), filepath.Join(dir, "m.safetensors")
	if _, err := serialize.WriteModel(template, m); err != nil {
		t.Fatal(err)
	}
	var on Diagnosis
	watched, err := on.Attach(formats.Tensors(m))
	if err == nil {
		_, err = formats.Save(tensors, watched)
	}
	if err != nil {
		t.Fatal(err)
	}
	of := Diagnose(m)
	for what, got := range map[string][]string{"model": of.NonFinite, "on the way": on.NonFinite} {
		if !slices.Equal(got, []string{weight}) {
			t.Errorf("%s: %q, want %s", what, got, weight)
		}
	}
	if word, _ := of.Health(); word != "sick" {
		t.Errorf("the model is %s", word)
	}
	reports := []*Report{ExamineModel("", m)}
	for _, path := range []string{template, tensors} {
		r, err := Examine(path, modelfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	for i, r := range reports {
		if !slices.Equal(r.NonFinite, []string{weight}) || len(r.Norms) != len(of.Norms) {
			t.Errorf("report %d: %q of %d batch norms, want %s of %d", i, r.NonFinite, len(r.Norms), weight, len(of.Norms))
		}
		first := slices.IndexFunc(r.Findings(), func(f bn.Finding) bool { return f.Layer == weight })
		if first < 0 || !strings.Contains(r.Findings()[first].Problem, "element 1") {
			t.Errorf("report %d: %+v", i, r.Findings())
		}
	}
}

// A mean in units of 0 to 255 for pixels from 0 to 1 makes a model sick, whichever program
// wrote its file: 33.3285 = 0.1307 * 255.
func TestMeanOfPixels(t *testing.T) {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	wrong := m.Clone()
	text := strings.Replace(string(m.Graph.Text()), "mean=[0.1307]", "mean=[33.3285]", 1)
	if wrong.Graph, err = graph.ParseGraph([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    *models.Model
		want string
	}{{m, ""}, {wrong, "mean 33.3285: it is in units of x/255"}} {
		of := Diagnose(c.m)
		if faults := strings.Join(of.Faults(), ""); !strings.Contains(faults, c.want) || faults != "" && c.want == "" {
			t.Errorf("faults %q, want %q", faults, c.want)
		}
		for _, name := range []string{"m.bnm", "m.onnx"} {
			path := filepath.Join(t.TempDir(), name)
			if name == "m.bnm" {
				_, err = serialize.WriteModel(path, c.m)
			} else {
				_, err = formats.Export(path, c.m, formats.ExportOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := Examine(path, modelfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, f := range r.Findings() {
				if f.Severity == bn.Fault {
					found += f.Problem + "; " + f.Advice
				}
			}
			if !strings.Contains(found, c.want) || found != "" && c.want == "" {
				t.Errorf("%s: found %q, want %q", name, found, c.want)
			}
		}
	}
}
