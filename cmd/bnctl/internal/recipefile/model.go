package recipefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// isModel reports whether a file is a template or a checkpoint of bnctl.
func isModel(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 3)
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte("\x89BN"))
}

// ofModel returns the options in the recipe of a template or a checkpoint. They do not include the data and
// the file of the initial weights, because the recipe does not name these.
func ofModel(path string) (f File, err error) {
	opened, err := serialize.Open(path)
	if err != nil {
		return f, err
	}
	defer opened.Close()
	var m *models.Model
	if opened.Kind == serialize.Template {
		m, err = opened.Model()
	} else {
		var k *serialize.Checkpoint
		if k, err = opened.Checkpoint(); err == nil {
			m, _, err = serialize.Strip(k)
		}
	}
	if err != nil {
		return f, err
	}
	if m.Recipe == nil {
		return f, problem.New("recipe", path, "it has no recipe: bnctl did not train it",
			"name the template of a training")
	}
	r, err := recipe.Parse(m.Recipe)
	if err != nil {
		return f, err
	}
	return File{Recipe: optionsOf(r, m)}, nil
}

// otherFields are fields of a recipe that are not options, or that optionsOf handles separately.
var otherFields = []string{"release", "graph", "init", "data", "validation", "val_split", "mask_ignore",
	"columns", "target_std", "ema_warmup", "classes", "parts", "model", "sampling", "decoder", "most_boxes"}

// optionsOf returns the options with which a training has the recipe r.
func optionsOf(r *recipe.Recipe, m *models.Model) map[string]string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.JSON(), &fields); err != nil {
		panic(err) // it came from JSON
	}
	out := map[string]string{}
	for name, value := range fields {
		text := strings.Trim(string(value), `"`)
		var list []string
		if json.Unmarshal(value, &list) == nil {
			text = strings.Join(list, ",")
		}
		other := slices.Contains(otherFields, name) || text == "" || text == "null"
		if length := name == "epochs" || name == "steps"; !other && !(length && text == "0") {
			out[strings.ReplaceAll(name, "_", "-")] = text
		}
	}
	set := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	sampling, _, _ := strings.Cut(r.Sampling, ":")
	set("sampling", sampling)
	set("ignore", r.MaskIgnore)
	set("csv-columns", r.Columns)
	if v := r.ValSplit; v != nil {
		set("val-split", fmt.Sprint(v.Fraction))
		set("split-seed", fmt.Sprint(v.Seed))
		set("split-groups", v.Groups)
	}
	if _, err := models.Lookup(r.Model); err == nil {
		set("model", r.Model)
		if shape := m.Input().Shape; len(shape) == 3 && m.Input().DType.Size() == 1 {
			set("size", fmt.Sprintf("%dx%d", shape[0], shape[1]))
		}
	}
	return out
}
