package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// batch arranges a batch for the driver. Repeated rows are at the end, and the denominator is counted from
// the labels of the whole batch.
func (p *plan) batch(b *data.Batch, sl parallel.Slices) parallel.Batch {
	rows := map[string]tensor.Tensor{
		p.inputName():      repeatRows(b.X, sl.Repeated),
		losses.InputLabels: repeatRows(b.Labels, sl.Repeated),
		spmd.InputIdent:    repeatRows(b.Ident(), sl.Repeated),
	}
	p.withLoss(rows)
	if len(b.Partners.Shape) > 0 {
		withPartners(rows, b, sl.Repeated)
	}
	out := parallel.Batch{Rows: rows, Sizes: sl.Sizes, Inverse: inverse(p.weighed(rows))}
	from := 0
	for _, n := range sl.Sizes {
		out.Inverses = append(out.Inverses, inverse(p.weighed(rowsFrom(rows, from, from+n))))
		from += n
	}
	return out
}

// inverse returns 1/denominator of the loss; 0 if no label counts.
func inverse(denominator float64) float32 {
	if denominator > 0 {
		return float32(1 / denominator)
	}
	return 0
}

// rowsFrom returns the rows [from, to) of inputs.
func rowsFrom(rows map[string]tensor.Tensor, start, end int) map[string]tensor.Tensor {
	out := map[string]tensor.Tensor{}
	for name, t := range rows {
		out[name] = t.Rows(start, end)
	}
	return out
}

// repeatRows appends n rows: the first rows of t, several times if t has fewer.
func repeatRows(t tensor.Tensor, n int) tensor.Tensor {
	if n == 0 {
		return t
	}
	shape := append([]int(nil), t.Shape...)
	shape[0] += n
	out := tensor.New(t.DType, shape...)
	for at := 0; at < len(out.Bytes); {
		at += copy(out.Bytes[at:], t.Bytes)
	}
	return out
}
