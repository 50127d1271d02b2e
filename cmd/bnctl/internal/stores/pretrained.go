package stores

import (
	"fmt"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/pretrained"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
)

// ListPretrained prints the weights that are published for the networks of the zoo.
func ListPretrained(out Output) error {
	out.Result("  %-24s  %-46s  %7s  %6s  %-12s  %s", "network", "source", "MB", "top-1", "licence", "sha256")
	for _, w := range pretrained.All() {
		a, err := models.Lookup(w.Network)
		if err != nil {
			return err
		}
		_, d, err := a.Describe(models.Size{})
		if err != nil {
			return err
		}
		w.Bytes = 4 * int64(d.Parameters)
		out.Event("pretrained", w)
		top := ""
		if w.Top1 > 0 {
			top = fmt.Sprintf("%.2f", w.Top1)
		}
		out.Result("  %-24s  %-46s  %7.1f  %6s  %-12s  %s", w.Network, w.Source, float64(w.Bytes)/1e6, top,
			w.Licence, w.Sum)
	}
	return nil
}

// Complete sets options for reading the weights of a source, unless they are already set. The options were
// published with the weights: the preprocessing, the names of the classes and, if withArch is true, the
// network.
func Complete(o *modelfile.Options, source string, withArch bool) error {
	return pretrained.Complete(o, source, withArch)
}
