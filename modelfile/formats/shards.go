package formats

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// Whole models may lie in several files, of which each by itself looks whole. Their names
// tell: model-00001-of-00003.safetensors, and those that end with the number of a rank.
var (
	shardName = called(`^(.*-)([0-9]{5})-of-([0-9]{5})(\.(?:safetensors|bin|pt|pth|ckpt))$`)
	rankNames = []struct {
		name *regexp.Regexp
		of   string
	}{
		{regexp.MustCompile(`^(mp_rank_)([0-9]{2})(_model_states\.pt)$`), "DeepSpeed's tensor parallelism"},
		{regexp.MustCompile(`^(layer_)([0-9]{2})(-model_[0-9]{2}-model_states\.pt)$`), "DeepSpeed's pipeline"},
		{regexp.MustCompile(`^(zero_pp_rank_)([0-9]+)(_mp_rank_[0-9]{2}_model_states\.pt)$`), "DeepSpeed's ZeRO-3"},
		{regexp.MustCompile(`^(consolidated\.)([0-9]{2})(\.pth)$`), "tensor parallelism"},
	}
	megatronFolder = regexp.MustCompile(`^(mp_rank_)([0-9]{2})((?:_[0-9]{3})?)$`)
	zeroOptimizer  = regexp.MustCompile(`^(bf16_|fp16_)?zero_pp_rank_[0-9]+_mp_rank_[0-9]{2}_optim_states\.pt$`)
)

const maxIndex = 64 << 20 // bytes of the index of a sharded model

// refuseShard refuses a file that is one of several of a model, and names the others.
func refuseShard(path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder, base := filepath.Split(whole)
	if m := shardName().FindStringSubmatch(base); m != nil && m[3] != "00001" {
		return ofShards(path, m)
	}
	if zeroOptimizer.MatchString(base) {
		return problem.Advise(adviceDeepZero, "%s: the optimizer's part of one rank of DeepSpeed, without a model",
			path)
	}
	for _, r := range rankNames {
		if others := siblings(folder, base, r.name); len(others) > 0 {
			return problem.Advise(adviceRanks, "%s: a part of a model in %s (%s); the others are %s", path,
				problem.Counted(len(others)+1, "file"), r.of, foreign.List(others))
		}
	}
	above, part := filepath.Split(filepath.Clean(folder))
	if others := siblings(above, part, megatronFolder); len(others) > 0 {
		return problem.Advise(adviceRanks, "%s: a part of a model in %s (Megatron's parallelism); the others "+
			"are in %s", path, problem.Counted(len(others)+1, "file"), foreign.List(others))
	}
	return nil
}

const (
	adviceRanks  = "merge them with the program that wrote them, and save one state dict"
	adviceShards = "in Python, over all parts: d = {}; [d.update(%s(p)) for p in parts]; %s"
)

// ofShards refuses the part of a model whose name m has taken apart.
func ofShards(path string, m []string) error {
	total, _ := strconv.Atoi(m[3]) // five digits
	mine, _ := strconv.Atoi(m[2])
	first := min(mine, 1) // some programs count from 0
	var others []string
	for i := first; i < first+min(total, 1000); i++ {
		if i != mine {
			others = append(others, fmt.Sprintf("%s%05d-of-%s%s", m[1], i, m[3], m[4]))
		}
	}
	return problem.Advise(mergeAdvice(m[4]), "%s: part %s of %s of a model; %s", path, m[2], m[3],
		present(filepath.Dir(path), others))
}

// mergeAdvice says how files of an ending become one.
func mergeAdvice(ending string) string {
	if ending == ".safetensors" {
		return fmt.Sprintf(adviceShards, "safetensors.torch.load_file",
			"safetensors.torch.save_file(d, 'model.safetensors')")
	}
	return fmt.Sprintf(adviceShards, "torch.load", "torch.save(d, 'model.pth')")
}

// present says which of the files are in a folder and which are missing.
func present(folder string, names []string) string {
	var missing []string
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return "the others are beside it: " + foreign.List(names)
	}
	return problem.Counted(len(missing), "part") + " missing here: " + foreign.List(missing)
}

// siblings returns what else in a folder has the name of a part, with another number.
func siblings(folder, base string, name *regexp.Regexp) (others []string) {
	mine := name.FindStringSubmatch(base)
	if mine == nil {
		return nil
	}
	entries, _ := os.ReadDir(folder) // what cannot be read there cannot be said
	for _, e := range entries {
		if m := name.FindStringSubmatch(e.Name()); m != nil && m[2] != mine[2] && m[3] == mine[3] {
			others = append(others, e.Name())
		}
	}
	return others
}

// isIndex reports whether a file is the index of a model in several files.
func isIndex(path string, head []byte) bool {
	return strings.HasSuffix(path, ".index.json") && Describes(head) == "keras"
}

// refuseIndex names the files of a model that lies in several.
func refuseIndex(path string) error {
	b, err := regular.Read(path, maxIndex)
	if err != nil {
		return err
	}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &index); err != nil || len(index.Files) == 0 {
		return problem.Failure("", path+": by its name the index of a model in several files, but it has no "+
			"weight_map", "name the file of the weights")
	}
	parts := slices.Compact(slices.Sorted(maps.Values(index.Files)))
	if len(parts) == 1 {
		return problem.Advise("name that file", "%s: the index of a model in one file, %q", path, parts[0])
	}
	return problem.Advise(mergeAdvice(filepath.Ext(parts[0])), "%s: the index of a model in %s; %s", path,
		problem.Counted(len(parts), "file"), present(filepath.Dir(path), parts))
}
