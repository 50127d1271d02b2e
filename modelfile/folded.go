package modelfile

import (
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// folded is the prefix that PyTorch's exporter gives to the name of a convolution's weight
// after it folded a batch norm into it. An unchanged weight keeps its original name.
const folded = "onnx__Conv"

// foldedNorms describes the batch norms that the exporter of m's ONNX file folded into
// other operations. It returns "" if it finds no trace of folding.
func foldedNorms(m *models.Model) string {
	if !m.Normalises() {
		return "the network has no batch norm; if it had some, its exporter folded them"
	}
	count, first, seen := 0, "", map[string]bool{}
	for _, n := range m.Graph.Main.Nodes {
		if n.Op != graph.Conv {
			continue
		}
		name := m.Graph.Main.Values[n.In[1]].State
		if strings.HasPrefix(name, folded) && !seen[name] {
			if seen[name], count = true, count+1; first == "" {
				first = name
			}
		}
	}
	if count == 0 {
		return ""
	}
	return "batch norms are folded into " + problem.Plural(count, "convolution") + " (" + first +
		"): these are trained without"
}
