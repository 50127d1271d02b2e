package onnx

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/models"
)

// operatorNames returns the operators that become nodes of the graph, and the operators
// that are computed when a file is read.
func operatorNames() []string {
	all := append(folded(), made()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// made returns the operators that become nodes of the graph.
func made() (all []string) {
	for op, o := range table {
		if o.make != nil {
			all = append(all, op)
		}
	}
	slices.Sort(all)
	return all
}

// read reads a sketch as a file. If the sketch is refused, it returns the reason as the
// error.
func (s *sketch) read() (*models.Model, error) {
	b := s.bytes()
	f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		return nil, err
	}
	return f.Model, f.NoModel
}

// runs reads a sketch, and runs and writes it if it is supported. It must not panic, and a
// model that is read must run.
func (s *sketch) runs() (read bool, err error) {
	m, refused := s.read()
	if refused != nil {
		return false, nil
	}
	if m.Tail != nil {
		outs, err := evalF32(m, ramp(m, s.rows))
		if err != nil {
			return true, err
		}
		_, _ = m.FileRows(outs) // the only place where shapes that do not fit are an error; it must not panic
		return true, nil
	}
	if err := Write(&bytes.Buffer{}, m); err != nil && !strings.Contains(err.Error(), "not written") {
		return true, err
	}
	_, err = eval(m, ramp(m, s.rows))
	return true, err
}

// TestEveryRank: every operator, with operands of every rank, is read or refused by an
// error, and every model that is read runs and can be written.
func TestEveryRank(t *testing.T) {
	for _, op := range operatorNames() {
		read := 0
		for rank := range 7 {
			for seed := range uint64(20) {
				ok, err := sketched(seeded(seed), op, rank).runs()
				if err != nil {
					t.Errorf("%s of rank %d, seed %d: %v", op, rank, seed, err)
				}
				if ok {
					read++
				}
			}
		}
		if read == 0 {
			t.Errorf("%s: no graph of it is read", op)
		}
	}
}

// TestImageOfEveryRank: an input of u8 other than an image is refused.
func TestImageOfEveryRank(t *testing.T) {
	m := fromText(t, `bnctl graph 1
graph "image"
func main(x rows u8[3,5,3]) {
  y = image(x, scale=0.0039, bgr=true)
  return pixels rows = y
}
`)
	for rank := range 7 {
		p, err := encode.Model(m, DefaultOpset, nil)
		if err != nil {
			t.Fatal(err)
		}
		shape := p.Graph.Input[0].Type.TensorType.Shape
		shape.Dim = slices.Repeat(shape.Dim[3:], rank)
		_, err = (&sketch{m: p}).read()
		if (err == nil) != (rank == 4) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// FuzzSketch reads and runs sketched graphs. The fuzzer's bytes take the place of random numbers.
func FuzzSketch(f *testing.F) {
	for i := range operatorNames() {
		b := make([]byte, 64)
		for k := range b {
			b[k] = byte(k*i*37 + k)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := byBytes(b)
		s := sketched(d, oneOf(d, operatorNames()...), d(7))
		if _, err := s.runs(); err != nil {
			t.Error(fmt.Errorf("%v: %w", s.g, err))
		}
	})
}
