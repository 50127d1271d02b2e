package serialize

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// entry is one row of a file's tensor table.
type entry struct {
	Name   string    `msgpack:"name"`
	Set    string    `msgpack:"set"` // "" for the state itself
	DType  string    `msgpack:"dtype"`
	Shape  list[int] `msgpack:"shape"`
	Offset int64     `msgpack:"offset"` // offset from the first multiple of 64 after the header
	SHA256 []byte    `msgpack:"sha256"`
}

// named is a tensor on its way into a file or out of it.
type named struct {
	set, name string
	tensor    tensor.Tensor
}

func (e *entry) String() string {
	if e.Set == "" {
		return "tensor " + e.Name
	}
	return fmt.Sprintf("tensor %s of set %s", e.Name, e.Set)
}

// tabulate lays tensors out one after the other, each aligned.
func tabulate(tensors []named) []entry {
	table, at := make([]entry, len(tensors)), int64(0)
	for i, t := range tensors {
		table[i] = entry{Name: t.name, Set: t.set, DType: t.tensor.DType.String(), Shape: t.tensor.Shape,
			Offset: at}
		at = align(at + int64(len(t.tensor.Bytes)))
	}
	inParallel(len(table), allCores(), func(i int) {
		table[i].SHA256 = sumOf(tensors[i].tensor.Bytes)
	})
	return table
}

// extract returns the tensors of a table as views of data, the part of the file that follows the
// header's padding. They must be in order, without overlap, and fill data; gaps between them must
// be zero.
func extract(table []entry, data []byte) ([]named, error) {
	tensors, end := make([]named, len(table)), int64(0)
	for i := range table {
		e := &table[i]
		b, err := e.bytes(data, end)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", e, err)
		}
		tensors[i] = named{e.Set, e.Name, b}
		end = e.Offset + int64(len(b.Bytes))
	}
	if int64(len(data)) != end {
		return nil, fmt.Errorf("%d bytes follow the last tensor: the file is damaged", int64(len(data))-end)
	}
	return tensors, nil
}

// bytes returns the tensor of e as a view of data. The first end bytes of data belong to earlier
// tensors.
func (e *entry) bytes(data []byte, end int64) (tensor.Tensor, error) {
	d, err := tensor.ParseDType(e.DType)
	if err != nil {
		return tensor.Tensor{}, err
	}
	size, err := tensor.Size(d, e.Shape)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if err := e.checkOffset(data, end, int64(size)); err != nil {
		return tensor.Tensor{}, err
	}
	return tensor.FromBytes(d, e.Shape, data[e.Offset:e.Offset+int64(size):e.Offset+int64(size)])
}

// checkOffset checks that e's size bytes are at a valid place.
func (e *entry) checkOffset(data []byte, end, size int64) error {
	switch length := int64(len(data)); {
	case e.Offset < end:
		return fmt.Errorf("begins at %d, inside an earlier tensor, which ends at %d", e.Offset, end)
	case e.Offset > length || size > length-e.Offset:
		return fmt.Errorf("its %d bytes at %d lie beyond the end of the file, at %d: the file is cut short",
			size, e.Offset, length)
	case e.Offset != align(end):
		return fmt.Errorf("begins at %d, want %d", e.Offset, align(end))
	case !zeros(data[end:e.Offset]):
		return fmt.Errorf("the padding before it is not zero: the file is damaged")
	}
	return nil
}

func zeros(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// allCores is the number of goroutines that compute at the same time.
func allCores() int { return runtime.GOMAXPROCS(0) }

// inParallel calls f with 0 to n-1, cores calls at a time, and waits.
func inParallel(n, cores int, f func(int)) {
	var wg sync.WaitGroup
	running := make(chan struct{}, cores)
	for i := range n {
		running <- struct{}{}
		wg.Go(func() {
			f(i)
			<-running
		})
	}
	wg.Wait()
}
