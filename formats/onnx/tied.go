package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// tied returns the value of a tensor that the model already stores in another form, for example
// because two layers share a weight and one of them reads it transposed.
func (c *call) tied(label string, form fileForm, t tensor.Tensor) (graph.Value, bool) {
	have, ok := c.forms[label]
	role := c.roleInState(label)
	if !ok || have.name != form.name || !role.Trained() {
		return graph.None, false
	}
	first := c.reader.state[label]
	if !sameTensor(moveAll(first, have.undo), moveAll(t, form.undo)) {
		return graph.None, false
	}
	v := c.g.Declare(graph.State{Name: label, DType: first.DType, Shape: first.Shape, Role: role})
	for _, m := range simplified(append(slices.Clone(have.undo), redo(t.Shape, form.undo)...)) {
		if m.Perm == nil {
			v = c.node(graph.Reshape, ".shared", []graph.Value{v}, "shape", m.Shape)
		} else {
			v = c.node(graph.Transpose, ".shared", []graph.Value{v}, "perm", m.Perm)
		}
	}
	return v, true
}

func moveAll(t tensor.Tensor, moves []models.Move) tensor.Tensor {
	return models.FileTensor{Moves: moves}.Moved(t)
}

// redo returns the inverse of the moves undo. shape is the shape before undo.
func redo(shape []int, undo []models.Move) (moves []models.Move) {
	for _, m := range undo {
		if m.Perm == nil {
			moves = append(moves, models.Move{Shape: shape})
		} else {
			moves = append(moves, models.Move{Perm: inverse(m.Perm)})
		}
		shape = movedShape(shape, m)
	}
	slices.Reverse(moves)
	return moves
}
