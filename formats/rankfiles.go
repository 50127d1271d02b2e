package formats

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// A parallel model may be stored in one file for each rank. Each file looks complete, but
// its tensors have only a part of their elements, and only the program that wrote it knows
// along which axes they were divided. The files are recognised by their names, which
// contain the number of the rank.
var (
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

const adviceRanks = "merge them with the program that wrote them, and save one state dict"

// refuseRank rejects a file of one rank of a parallel model, and names the others.
func refuseRank(path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder, base := filepath.Split(whole)
	if zeroOptimizer.MatchString(base) {
		return problem.Advise(adviceDeepZero, "%s: the optimizer's part of one rank of DeepSpeed, without a model",
			path)
	}
	for _, r := range rankNames {
		if others := siblings(folder, base, r.name); len(others) > 0 {
			return problem.Advise(adviceRanks, "%s: a part of a model in %s (%s); the others are %s", path,
				problem.Plural(len(others)+1, "file"), r.of, foreign.List(others))
		}
	}
	above, base := filepath.Split(filepath.Clean(folder))
	if others := siblings(above, base, megatronFolder); len(others) > 0 {
		return problem.Advise(adviceRanks, "%s: a part of a model in %s (Megatron's parallelism); the others "+
			"are in %s", path, problem.Plural(len(others)+1, "file"), foreign.List(others))
	}
	return nil
}

// siblings returns the other files or folders in folder that have the same name except for
// the number.
func siblings(folder, base string, name *regexp.Regexp) (names []string) {
	mine := name.FindStringSubmatch(base)
	if mine == nil {
		return nil
	}
	entries, _ := os.ReadDir(folder) // an unreadable folder cannot be reported here
	for _, e := range entries {
		if m := name.FindStringSubmatch(e.Name()); m != nil && m[2] != mine[2] && m[3] == mine[3] {
			names = append(names, e.Name())
		}
	}
	return names
}
