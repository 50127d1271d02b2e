package keras

import (
	"encoding/json"
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
)

// leaveOptimizer counts the optimizer's state.
func (c *content) leaveOptimizer() {
	for _, name := range []string{"optimizer_weights", "optimizer"} {
		if !c.root.Has(name) {
			continue
		}
		g := foreign.Group{Name: name, Reason: "optimizer state"}
		if o, err := c.root.Open(name); err == nil {
			count(o, &g, maxNesting)
		}
		if g.Tensors > 0 {
			c.file.Left = append(c.file.Left, g)
		}
	}
	if v, ok, err := c.root.Attribute("training_config"); ok && err == nil {
		if text, err := v.Text(); err == nil && json.Valid([]byte(text)) {
			c.file.Count("training_config", fmt.Sprintf("%d bytes", len(text)))
		}
	}
}

// count adds up the data sets below o. Unreadable ones are not counted: they are left out
// anyway.
func count(o *hdf5.Object, g *foreign.Group, depth int) {
	if o.IsData() {
		if v, err := o.Value(); err == nil {
			g.Tensors++
			g.Bytes += int64(v.Size())
		}
		return
	}
	names, err := o.Members()
	if err != nil || depth == 0 {
		return
	}
	for _, name := range names {
		if child, err := o.Open(name); err == nil {
			count(child, g, depth-1)
		}
	}
}
