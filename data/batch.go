package data

import (
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/tensor"
)

// Batch is a batch of transformed samples. The caller of Loader.Next owns it until it is released.
type Batch struct {
	Position               // Epoch and Index
	Last     bool          // the last batch of its epoch, which may have fewer samples
	X        tensor.Tensor // u8 [n,H,W,C] for pictures, f32 [n,...] for arrays
	Labels   tensor.Tensor // i32 [n], [n,...] with LabelShape, [n,H,W] with Masks; zero without labels
	// Partners are the labels of the samples that the augmentation mixes into the rows, in the form of Labels.
	// They are zero if the augmentation does not mix. Fraction is the share of a row's own sample in the
	// mixture, and the weight of Labels in the loss. It is at least a half.
	Partners tensor.Tensor
	Fraction float32
	Samples  tensor.Tensor // i64 [n], the numbers of the samples in the source

	loader    *Loader
	x, y, z   tensor.Tensor // buffers of Plan.Batch rows
	samples   []int64
	earlier   []uint32 // number of times that each sample occurred earlier in the epoch; nil: all 0
	labels    []int32
	perLabel  int   // elements of one label
	rowShape  []int // shape of X without the first axis
	rowBytes  int
	filled    chan struct{} // closed when all rows are filled
	unfilled  atomic.Int64  // number of rows not filled yet
	mu        sync.Mutex
	err       error // error of the first row that has one
	failedRow int
	errors    map[int]error      // errors of rows, with Plan.SkipErrors
	wanted    func(row int) bool // from Plan.Select; nil: all
}

// Len returns the number of samples.
func (b *Batch) Len() int { return len(b.samples) }

// occurrence returns a number that identifies the random draws of a row within its epoch: the number of its
// sample, plus 2^32 times the number of times that the sample occurred earlier in the epoch.
func (b *Batch) occurrence(row int) int64 {
	if b.earlier == nil {
		return b.samples[row]
	}
	return b.samples[row] | int64(b.earlier[row])<<32
}

// Ident returns the epoch and the occurrence of every row, i64 [n,2]. They determine the row's random numbers
// in dropout.
func (b *Batch) Ident() tensor.Tensor {
	t := tensor.New(tensor.I64, b.Len(), 2)
	for i := range b.Len() {
		t.I64()[2*i], t.I64()[2*i+1] = int64(b.Epoch), b.occurrence(i)
	}
	return t
}

// Release returns the batch's memory to its loader. The batch must not be used afterwards. If a batch is not
// released, the garbage collector frees its memory.
func (b *Batch) Release() {
	l := b.loader
	if l == nil {
		return // already released
	}
	b.loader = nil
	select {
	case l.free <- b:
	default:
	}
}

// batch returns a batch of the given samples with rows that are not filled yet. It uses the memory of a
// released batch if possible.
func (l *Loader) batch(epoch, index int, order visits) *Batch {
	var b *Batch
	select {
	case b = <-l.free:
		b = &Batch{loader: l, x: b.x, y: b.y, z: b.z}
	default:
		b = l.newBatch()
	}
	n := len(order.samples)
	b.Position = Position{epoch, index}
	b.Last = index == l.batches()-1
	b.X, b.Samples = b.x.Rows(0, n), b.z.Rows(0, n)
	if l.info.Labelled {
		b.Labels = b.y.Rows(0, n)
		b.labels, b.perLabel = b.Labels.I32(), tensor.Count(l.labelShape)
	}
	b.samples, b.earlier = b.Samples.I64(), order.earlier
	for i, s := range order.samples {
		b.samples[i] = int64(s)
	}
	b.rowShape, b.rowBytes = l.shape, len(b.X.Bytes)/n
	b.filled = make(chan struct{})
	b.unfilled.Store(int64(n))
	return b
}

// newBatch allocates a batch.
func (l *Loader) newBatch() *Batch {
	n := min(l.plan.Batch, l.info.Len)
	b := &Batch{loader: l}
	b.x = tensor.New(l.info.DType, append([]int{n}, l.shape...)...)
	b.z = tensor.New(tensor.I64, n)
	if l.info.Labelled {
		b.y = tensor.New(tensor.I32, append([]int{n}, l.labelShape...)...)
	}
	return b
}

// row returns one sample of X.
func (b *Batch) row(i int) tensor.Tensor {
	return tensor.Tensor{DType: b.X.DType, Shape: b.rowShape, Bytes: b.X.Bytes[i*b.rowBytes : (i+1)*b.rowBytes]}
}

// fail records the error of a row. If several rows fail, the error of the first row is kept, so that it does
// not depend on the number of workers.
func (b *Batch) fail(row int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil || row < b.failedRow {
		b.err, b.failedRow = err, row
	}
}

// note records the error of a row and sets the row to zeros.
func (b *Batch) note(row int, err error) {
	clear(b.row(row).Bytes)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		b.errors = map[int]error{}
	}
	b.errors[row] = err
}

// Bad returns the error of a row if it could not be read, or nil. A bad row is all zeros. There are bad rows
// only if Plan.SkipErrors is set.
func (b *Batch) Bad(row int) error { return b.errors[row] }

// rowsFilled records that some rows are finished. When all are, the batch is ready.
func (b *Batch) rowsFilled(rows int) {
	if b.unfilled.Add(int64(-rows)) == 0 {
		if b.loader.plan.Transform.Augment.Mixes() && b.err == nil {
			b.mix()
		}
		close(b.filled)
	}
}
