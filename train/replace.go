package train

import (
	"fmt"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// Replaceable returns nil if a checkpoint of r may be written to path: path is "", no file exists at
// path, or the file is a checkpoint of the same recipe. Otherwise the error is a *problem.Error. The
// kernel class is not compared, since devices need not be open yet.
func Replaceable(path string, r *recipe.Recipe) error {
	if there, err := regular.Exists(path); !there {
		return err
	}
	const others = "give this run another {output} or {checkpoint}, or add {overwrite}"
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return problem.New("checkpoint", path,
			fmt.Sprintf("it exists, and is not a checkpoint that this run could replace (%v)", err), others)
	}
	goOn := fmt.Sprintf("continue it with {resume} %s, %s", path, others)
	was, err := recipe.Parse(k.Recipe)
	if err != nil {
		return problem.New("checkpoint", path, fmt.Sprintf("it belongs to another run (%v)", err), goOn)
	}
	now := *r
	now.Kernels, now.Classes = was.Kernels, was.Classes
	diff := now.Differences(was)
	if len(diff) == 0 {
		return nil
	}
	more := ""
	if n := len(diff) - 1; n > 0 {
		more = ", and " + problem.Plural(n, "more difference")
	}
	return problem.New("checkpoint", path, fmt.Sprintf("it belongs to another run: %s%s", diff[0], more), goOn)
}
