package keras

import (
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// listTensors lists the weights as the file has them.
func (c *content) listTensors() error {
	only := c.replicated()
	if only != "" {
		if c.config == nil || c.described {
			c.file.Wrappers = append(c.file.Wrappers, "multi_gpu_model: "+only)
		}
		only += "/"
	}
	for _, g := range c.groups {
		for _, a := range g.arrays {
			d, err := a.dtype()
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(g.path(a), only)
			t, err := foreign.NewTensor(name, d, a.shape, a.value.ReadInto)
			if err != nil {
				return err
			}
			c.file.Tensors = append(c.file.Tensors, t)
		}
	}
	return foreign.CheckTensors(c.file.Tensors, c.size)
}

// replicated returns the name of the one group with weights if all other groups are the
// slices of multi_gpu_model. It returns "" for other files.
func (c *content) replicated() string {
	var full []string
	cuts := 0
	for _, g := range c.groups {
		if len(g.arrays) > 0 {
			full = append(full, g.name)
		} else if strings.HasPrefix(g.name, "lambda_") {
			cuts++
		}
	}
	if len(full) != 1 || cuts < 2 {
		return ""
	}
	return full[0]
}
