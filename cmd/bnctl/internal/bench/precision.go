package bench

import "github.com/bnctl/bnctl/graph"

// precisionOf says what computes the products of f on a device of a precision of floats: int8 where all of
// them are of bytes, both where some are. Files in QDQ form multiply floats between their bytes.
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
