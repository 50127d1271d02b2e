package bench

import "github.com/bnctl/bnctl/graph"

// precisionOf returns the precision of the products of f. floats is the precision that the device
// computes floats. The result is int8 if all products are of bytes, and names both precisions if only some
// are. The program of a file in QDQ form converts bytes to floats before it multiplies them, so its precision
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
