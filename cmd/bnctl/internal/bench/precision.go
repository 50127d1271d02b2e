package bench

import "github.com/bnctl/bnctl/graph"

// precisionOf returns the precision of the products of f on a device that computes floats in precision
// floats. It is int8 if all products are of bytes, and names both precisions if only some are.
// Programs of files in QDQ form convert bytes to floats before they multiply them, so their precision
// is floats.
func precisionOf(f *graph.Function, floats string) string {
	ofBytes, ofFloats := false, false
	for i := range f.Nodes {
		switch f.Nodes[i].Op {
		case graph.ConvInt8, graph.DenseInt8:
			ofBytes = true
		case graph.Conv, graph.Dense, graph.MatMul, graph.ConvTranspose:
			ofFloats = true
		}
	}
	switch {
	case ofBytes && ofFloats:
		return "int8+" + floats
	case ofBytes:
		return "int8"
	}
	return floats
}
