package job

import (
	"github.com/goccy/go-yaml"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/regular"
)

// RecipeFile has options by name: Recipe those that determine the result, Run
// the others.
type RecipeFile struct {
	Recipe map[string]any `yaml:"recipe"`
	Run    map[string]any `yaml:"run"`
}

// ReadRecipeFile reads a RecipeFile in YAML, of at most 64 KiB. The error is a
// *problem.Error for YAML that no recipe needs, such as aliases.
func ReadRecipeFile(path string) (f RecipeFile, err error) {
	text, err := regular.Read(path, maxRecipeBytes)
	if err != nil {
		return f, problem.Failure("recipe", err.Error(), "").Because(err)
	}
	if err = bounded(text); err == nil {
		err = yaml.UnmarshalWithOptions(text, &f, yaml.Strict())
	}
	if err != nil {
		return f, &problem.Error{Text: path + ": " + err.Error(), Err: err}
	}
	return f, nil
}
