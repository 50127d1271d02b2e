package modelfile

import (
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// equalParameters describes the weights of m that hold the numbers of another weight, as they are or
// transposed. They may have been one parameter before an exporter folded constants. It returns "" if there
// are none.
func equalParameters(m *models.Model) string {
	seen, count, first := map[[sha256.Size]byte]string{}, 0, ""
	for _, s := range m.Graph.State {
		t := m.State[s.Name]
		if s.Role != graph.Weight || t.DType != tensor.F32 || isConstant(t.F32()) {
			continue
		}
		sum := sumOf(t)
		if other := seen[sum]; other != "" {
			if count++; first == "" {
				first = other + " and " + s.Name
			}
			continue
		}
		seen[sum] = s.Name
		if long := slices.DeleteFunc(slices.Clone(t.Shape), func(n int) bool { return n == 1 }); len(long) == 2 {
			seen[sumOf(transposed(t, long))] = s.Name
		}
	}
	switch text := first + " hold the same numbers and are trained as two tensors"; count {
	case 0:
		return ""
	case 1:
		return text
	default:
		return text + "; so are " + problem.Plural(count-1, "other pair")
	}
}

// isConstant reports whether all numbers are equal, as in many initial weights.
func isConstant(x []float32) bool {
	return !slices.ContainsFunc(x, func(v float32) bool { return v != x[0] })
}

// sumOf returns a hash of the numbers and of the shape without axes of length 1.
func sumOf(t tensor.Tensor) [sha256.Size]byte {
	text := []byte{}
	for _, n := range t.Shape {
		if n != 1 {
			text = append(strconv.AppendInt(text, int64(n), 10), ' ')
		}
	}
	return sha256.Sum256(append(text, t.Bytes...))
}

// transposed returns the transpose of a matrix of the shape.
func transposed(t tensor.Tensor, shape []int) tensor.Tensor {
	rows, columns := shape[0], shape[1]
	r := tensor.New(tensor.F32, columns, rows)
	for i, v := range t.F32() {
		r.F32()[i%columns*rows+i/columns] = v
	}
	return r
}
