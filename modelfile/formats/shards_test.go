package formats

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPartsOfAModel: a file that is one of several is refused, and what is missing is named;
// what is only called like one is read.
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
		"bin/pytorch_model-00001-of-00002.bin", "bin/pytorch_model-00002-of-00002.bin", "zero/x-00000-of-00002.pt",
		"one/model-00001-of-00001.safetensors", "ds/mp_rank_00_model_states.pt", "ds/mp_rank_01_model_states.pt",
		"ds1/mp_rank_00_model_states.pt", "ds1/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
		"iter_10/mp_rank_00/model_optim_rng.pt", "iter_10/mp_rank_01/model_optim_rng.pt",
		"iter_20/mp_rank_00/model_optim_rng.pt", "llama/consolidated.00.pth", "llama/consolidated.01.pth",
		"pipe/layer_00-model_00-model_states.pt", "pipe/layer_01-model_00-model_states.pt", "acc/model.safetensors"} {
		put(name)
	}
	index("hf/model.safetensors.index.json", map[string]string{"a.weight": "model-00001-of-00003.safetensors",
		"a.bias": "model-00002-of-00003.safetensors", "b": "model-00001-of-00003.safetensors"})
	index("single/model.safetensors.index.json", map[string]string{"a": "model.safetensors"})
	index("empty/model.safetensors.index.json", nil)
	for name, want := range map[string]string{
		"hf/model-00001-of-00003.safetensors": `part 00001 of 00003 of a model; 1 part missing here: ` +
			`"model-00002-of-00003.safetensors"; in Python`,
		"bin/pytorch_model-00002-of-00002.bin": `the others are beside it: "pytorch_model-00001-of-00002.bin"`,
		"zero/x-00000-of-00002.pt":             `1 part missing here: "x-00001-of-00002.pt"`,
		"one/model-00001-of-00001.safetensors": "",
		"hf/model.safetensors.index.json": `the index of a model in 2 files; 1 part missing here: ` +
			`"model-00002-of-00003.safetensors"`,
		"hf":                                    "the index of a model in 2 files",
		"single":                                `in one file, "model.safetensors"; name that file`,
		"empty":                                 "no weight_map",
		"ds/mp_rank_00_model_states.pt":         `a part of a model in 2 files (DeepSpeed's tensor parallelism); the others are "mp_rank_01`,
		"ds1/mp_rank_00_model_states.pt":        "",
		"iter_10/mp_rank_00/model_optim_rng.pt": `(Megatron's parallelism); the others are in "mp_rank_01"`,
		"iter_20/mp_rank_00/model_optim_rng.pt": "",
		"ds1/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt": "the optimizer's part of one rank",
		"llama/consolidated.01.pth":                          `the others are "consolidated.00.pth"`,
		"pipe/layer_00-model_00-model_states.pt":             "DeepSpeed's pipeline",
		"acc":                                                "a folder with a model in it; name ",
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
