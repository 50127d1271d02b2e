package formats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestPartsOfAModel: a model with missing files is rejected with their names, and so is the
// file of one rank; a complete file that is only named like a part is read.
func TestPartsOfAModel(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		whole := filepath.Join(dir, "whole.pth")
		if strings.HasSuffix(name, ".safetensors") {
			whole = filepath.Join(dir, "whole.safetensors")
		}
		if _, err := Save(whole, named("a.weight", "a.bias").Tensors); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(whole, path); err != nil {
			t.Fatal(err)
		}
	}
	index := func(name string, parts map[string]string) {
		b, err := json.Marshal(map[string]any{"metadata": map[string]int{"total_size": 8}, "weight_map": parts})
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"hf/model-00001-of-00003.safetensors", "hf/model-00003-of-00003.safetensors",
		"some/part-00001-of-00003.safetensors", "some/part-00003-of-00003.safetensors",
		"bin/pytorch_model-00001-of-00002.bin", "bin/pytorch_model-00002-of-00002.bin", "zero/x-00000-of-00002.pt",
		"one/model-00001-of-00001.safetensors", "ds/mp_rank_00_model_states.pt", "ds/mp_rank_01_model_states.pt",
		"ds1/mp_rank_00_model_states.pt", "ds1/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
		"iter_10/mp_rank_00/model_optim_rng.pt", "iter_10/mp_rank_01/model_optim_rng.pt",
		"iter_20/mp_rank_00/model_optim_rng.pt", "llama/consolidated.00.pth", "llama/consolidated.01.pth",
		"pipe/layer_00-model_00-model_states.pt", "pipe/layer_01-model_00-model_states.pt", "acc/model.safetensors",
		"lacking/model.safetensors", "kinds/a.pth", "kinds/b.safetensors"} {
		put(name)
	}
	index("hf/model.safetensors.index.json", map[string]string{"a.weight": "model-00001-of-00003.safetensors",
		"a.bias": "model-00002-of-00003.safetensors", "b": "model-00001-of-00003.safetensors"})
	index("single/model.safetensors.index.json", map[string]string{"a": "model.safetensors"})
	index("outside/model.safetensors.index.json", map[string]string{"a.weight": "../acc/model.safetensors"})
	index("lacking/model.safetensors.index.json", map[string]string{"a.weight": "model.safetensors",
		"b": "model.safetensors"})
	index("two/a.safetensors.index.json", map[string]string{"a.weight": "x.safetensors"})
	index("two/b.safetensors.index.json", map[string]string{"a.weight": "y.safetensors"})
	index("kinds/model.safetensors.index.json", map[string]string{"a.weight": "a.pth", "a.bias": "b.safetensors"})
	index("empty/model.safetensors.index.json", nil)
	for name, want := range map[string]string{
		"hf/model-00001-of-00003.safetensors": `the index of a model in 2 files; 1 file missing here: ` +
			`"model-00002-of-00003.safetensors"; put all of them into one folder`,
		"some/part-00003-of-00003.safetensors": `part 00003 of 00003 of a model; 1 file missing here: ` +
			`"part-00002-of-00003.safetensors"; put all of them into one folder`,
		"bin/pytorch_model-00002-of-00002.bin": `"a.weight" is in pytorch_model-00001-of-00002.bin and in ` +
			`pytorch_model-00002-of-00002.bin: they are no parts of one model`,
		"zero/x-00000-of-00002.pt":             `1 file missing here: "x-00001-of-00002.pt"`,
		"one/model-00001-of-00001.safetensors": "",
		"hf/model.safetensors.index.json": `the index of a model in 2 files; 1 file missing here: ` +
			`"model-00002-of-00003.safetensors"`,
		"hf":                                    "the index of a model in 2 files",
		"single":                                `in 1 file; 1 file missing here: "model.safetensors"`,
		"outside":                               `the index names "../acc/model.safetensors", no file in its own folder`,
		"lacking":                               `the index says that "b" is in model.safetensors, which has no such tensor`,
		"kinds":                                 "of format safetensors, the parts before it of torch",
		"two":                                   `holds 2 models of several files each; name one of them: "a.safetensors.index.json", "b.`,
		"empty":                                 "no weight_map",
		"ds/mp_rank_00_model_states.pt":         `a part of a model in 2 files (DeepSpeed's tensor parallelism); the others are "mp_rank_01`,
		"ds1/mp_rank_00_model_states.pt":        "",
		"iter_10/mp_rank_00/model_optim_rng.pt": `(Megatron's parallelism); the others are in "mp_rank_01"`,
		"iter_20/mp_rank_00/model_optim_rng.pt": "",
		"ds1/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt": "the optimizer's part of one rank",
		"llama/consolidated.01.pth":                          `the others are "consolidated.00.pth"`,
		"pipe/layer_00-model_00-model_states.pt":             "DeepSpeed's pipeline",
		"acc":                                                "",
	} {
		f, err := Open(filepath.Join(dir, name), Options{})
		if err == nil {
			f.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	t.Chdir(filepath.Join(dir, "llama")) // a name without a folder
	if _, err := Open("consolidated.00.pth", Options{}); err == nil || !strings.Contains(err.Error(), "consolidated.01") {
		t.Errorf("in the folder itself: %v", err)
	}
	t.Chdir(filepath.Join(dir, "iter_10", "mp_rank_00"))
	if _, err := Open("model_optim_rng.pt", Options{}); err == nil || !strings.Contains(err.Error(), "mp_rank_01") {
		t.Errorf("in the folder of the rank itself: %v", err)
	}
}

// TestShardsAsOne reads a model in several files by its index, by the name of each file and by its
// folder. The result must have the tensors of all files, each from the file that the index names.
func TestShardsAsOne(t *testing.T) {
	values := map[string]float32{"a.weight": 1, "a.bias": 2, "b.weight": 3, "b.bias": 4}
	parts := [][]string{{"a.weight", "a.bias"}, {"b.weight"}, {"b.bias", "a.bias"}} // the last a.bias is stale
	for _, form := range []struct{ prefix, save, ending string }{
		{"model", ".safetensors", ".safetensors"}, {"pytorch_model", ".pth", ".bin"}} {
		dir, of := t.TempDir(), map[string]string{}
		var paths []string
		for i, names := range parts {
			var tensors []Tensor
			base := fmt.Sprintf("%s-%05d-of-%05d%s", form.prefix, i+1, len(parts), form.ending)
			for _, name := range names {
				v := tensor.New(tensor.F32, 2)
				v.F32()[0], v.F32()[1] = values[name], float32(i)
				tensors = append(tensors, InMemory(name, v))
				if of[name] == "" {
					of[name] = base
				}
			}
			paths = append(paths, filepath.Join(dir, base))
			if _, err := Save(paths[i]+form.save, tensors); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(paths[i]+form.save, paths[i]); err != nil {
				t.Fatal(err)
			}
		}
		b, err := json.Marshal(map[string]any{"weight_map": of})
		index := filepath.Join(dir, form.prefix+form.ending+".index.json")
		if err == nil {
			err = os.WriteFile(index, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(slices.Clone(paths), index, dir) {
			f, err := Open(path, Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			defer f.Close()
			got := ""
			for _, x := range f.Tensors {
				v, err := x.Load()
				if err != nil {
					t.Fatal(err)
				}
				got += fmt.Sprintln(x.Name, v.F32())
			}
			const want = "a.weight [1 0]\na.bias [2 0]\nb.weight [3 1]\nb.bias [4 2]\n"
			if got != want || !slices.Equal(ShardFiles(path), paths) {
				t.Errorf("%s: got\n%swant\n%s; of the files %v", path, got, want, ShardFiles(path))
			}
		}
	}
}
