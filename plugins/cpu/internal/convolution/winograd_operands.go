package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Operands of a row may be float32 or bfloat16 of two bytes. Tiles widen their input while
// they pad it, and narrow their output when a panel is done, so that halves need no
// separate pass.

// tileOperands are the operands and the result of tiles, for one image or several.
type tileOperands struct {
	in, out stored
	end     kernel.Epilogue
}

// tileOperandsOf returns the operands of row i of the current node.
func tileOperandsOf(c *plan.Compiler, x, y *run.Value) func(f *run.Frame, w *run.Worker, i int) tileOperands {
	epilogue := c.Epilogue()
	return func(f *run.Frame, w *run.Worker, i int) tileOperands {
		return tileOperands{storedRow(f, x, w, i), storedRow(f, y, w, i), epilogue.Row(f, w, i)}
	}
}

// image returns the operands for image i, if o has the operands of several images.
func (o tileOperands) image(k *winograd, i int) tileOperands {
	in, out := i*k.g.c*k.g.h*k.g.w, i*k.result.RowStep()
	return tileOperands{o.in.slice(in), o.out.slice(out), o.end.From(out)}
}

// floats returns the operands of one image in the form that windows accept: halves are
// widened in the worker's private memory.
func (o tileOperands) floats(k *winograd, w *run.Worker) operands {
	in, out := k.g.c*k.g.h*k.g.w, k.g.o*k.g.oh*k.g.ow
	unpacked, workspace := operands{end: o.end}, w.Floats(in+out)
	unpacked.in, unpacked.out = o.in.floats(k.kernels, workspace[:in]), workspace[in:]
	if o.out.half == nil {
		unpacked.out = o.out.float
	}
	return unpacked
}

// storedRow returns the elements of v for row i, without converting bfloat16 to float32.
func storedRow(f *run.Frame, v *run.Value, w *run.Worker, i int) stored {
	if v.IsHalf() {
		return stored{half: f.Half(v, w, i)}
	}
	return stored{float: f.At(v, w, i)}
}

// widen converts the first len(dst) values of s to float32 and stores them in dst.
func (s stored) widen(k *kernel.Set, dst []float32) {
	if s.half != nil {
		k.WidenBF16(dst, s.half[:len(dst)])
		return
	}
	copy(dst, s.float)
}

// floats returns the first len(workspace) values of s as float32. It converts bfloat16 in workspace.
func (s stored) floats(k *kernel.Set, workspace []float32) []float32 {
	if s.half == nil {
		return s.float[:len(workspace)]
	}
	s.widen(k, workspace)
	return workspace
}
