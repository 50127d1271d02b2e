package predict

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// CheckBatch returns an error if the inputs and results of a batch do not fit in this
// machine's memory, before anything starts. Open calls it. The memory of a device is
// checked when the device loads the program. On systems other than Linux the limit is
// unknown, and CheckBatch returns nil.
func CheckBatch(m *models.Model, rows int) error {
	program, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		return err
	}
	return checkBatch(program.Functions[0], rows)
}

func checkBatch(fn *graph.Function, rows int) error {
	const copies = 3 // the batch under way, the next one, and one on its way to a device
	perRow := 0
	count := func(v graph.Value) {
		if t := fn.Values[v].Type; t.Kind == graph.Rows {
			perRow += tensor.Count(t.Shape) * t.DType.Size()
		}
	}
	for _, v := range fn.Inputs {
		count(v)
	}
	for _, o := range fn.Outputs {
		if !o.Keep {
			count(o.Value)
		}
	}
	const mib = 1 << 20
	_, available := memory.Machine()
	want, free := copies*float64(perRow)*float64(rows), float64(available)
	if free > 0 && want > free {
		return problem.Advise("use a smaller batch",
			"batch %d: out of memory: its inputs and results want %.0f MiB, have %.0f MiB free", rows,
			want/mib, free/mib)
	}
	return nil
}
