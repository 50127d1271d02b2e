package serialize

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// fileTensor is a models.FileTensor.
type fileTensor struct {
	State string     `msgpack:"state"`
	Name  string     `msgpack:"name"`
	Moves list[move] `msgpack:"moves"`
	DType string     `msgpack:"dtype,omitempty"` // type of Data
	Shape list[int]  `msgpack:"shape,omitempty"`
	Data  []byte     `msgpack:"data,omitempty"`
}

// move is a models.Move.
type move struct {
	Perm  list[int] `msgpack:"perm,omitempty"`
	Shape list[int] `msgpack:"shape,omitempty"`
}

func fileTensors(tensors []models.FileTensor) (all list[fileTensor]) {
	for _, t := range tensors {
		f := fileTensor{State: t.State, Name: t.Name}
		for _, m := range t.Moves {
			f.Moves = append(f.Moves, move{listOf(m.Perm), listOf(m.Shape)})
		}
		if t.State == "" {
			f.DType, f.Shape, f.Data = t.Content.DType.String(), listOf(t.Content.Shape), t.Content.Bytes
		}
		all = append(all, f)
	}
	return all
}

// fileTensors returns the tensors of another program's file that a header lists.
func (h *header) fileTensors() (list []models.FileTensor, err error) {
	for _, t := range h.FileTensors {
		f := models.FileTensor{State: t.State, Name: t.Name}
		for _, m := range t.Moves {
			f.Moves = append(f.Moves, models.Move{Perm: m.Perm, Shape: m.Shape})
		}
		if t.State == "" {
			d, err := tensor.ParseDType(t.DType)
			if err == nil {
				f.Content, err = tensor.FromBytes(d, t.Shape, t.Data)
			}
			if err != nil {
				return nil, fmt.Errorf("tensor %.80q of a file: %w", t.Name, err)
			}
			f.Content = f.Content.Clone() // views need aligned elements
		}
		list = append(list, f)
	}
	return list, nil
}

func checkFileTensors(tensors []models.FileTensor) error {
	for _, t := range tensors {
		if err := t.Check(); err != nil {
			return err
		}
	}
	return nil
}
