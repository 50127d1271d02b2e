package ptx

import "fmt"

// Limits of sm_60 and later (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
var (
	mostThreads = [3]int{1024, 1024, 64}
	mostBlocks  = [3]int{1<<31 - 1, 65535, 65535}
)

const (
	mostOfBlock = 1024 // maximum number of threads in a block
	mostShared  = 48 << 10
	mostParams  = 4096 // maximum size of all parameters in bytes
)

// Launch runs a grid of blocks. args are the bits of the parameters. The error is a *Fault; memory is
// then as it was when the fault occurred.
func (m *Machine) Launch(e *Entry, grid, size [3]int, args ...uint64) error {
	if err := e.fits(grid, size, args); err != nil {
		return err
	}
	b := m.prepare(e, size, args)
	b.grid = grid
	for z := range grid[2] {
		for y := range grid[1] {
			for x := range grid[0] {
				if err := b.guarded([3]int{x, y, z}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fits returns an error if a launch exceeds a limit of the target or of the kernel.
func (e *Entry) fits(grid, size [3]int, args []uint64) error {
	refuse := func(format string, a ...any) error {
		return &Fault{Kernel: e.Name, Text: fmt.Sprintf(format, a...)}
	}
	threads, bytes := 1, 0
	for i := range 3 {
		threads *= size[i]
		if grid[i] < 1 || grid[i] > mostBlocks[i] || size[i] < 1 || size[i] > mostThreads[i] {
			return refuse("a grid of %v blocks of %v threads is beyond the limits", grid, size)
		}
		if e.most[0] != 0 && size[i] > e.most[i] || e.exact[0] != 0 && size[i] != e.exact[i] {
			return refuse("blocks of %v threads are not what it was compiled for", size)
		}
	}
	for _, p := range e.params {
		bytes += p.bits / 8
	}
	switch {
	case threads > mostOfBlock:
		return refuse("%d threads in a block, at most %d", threads, mostOfBlock)
	case e.Shared > mostShared:
		return refuse("%d bytes of shared memory, at most %d", e.Shared, mostShared)
	case bytes > mostParams || len(args) != len(e.params):
		return refuse("%d parameters of %d bytes, given %d", len(e.params), bytes, len(args))
	}
	return nil
}

// prepare allocates the registers and the memory for the blocks of a launch.
func (m *Machine) prepare(e *Entry, size [3]int, args []uint64) *block {
	n := size[0] * size[1] * size[2]
	b := &block{m: m, e: e, n: n, size: size, launch: m.epoch + 1}
	b.full = make([]bool, len(e.widths))
	for range e.widths {
		b.reg, b.wrote = append(b.reg, make([]uint64, n)), append(b.wrote, make([]uint32, n))
	}
	for _, v := range e.shared {
		b.shared = append(b.shared, newRegion(shared, v.size, 1))
	}
	for _, v := range e.local {
		b.local = append(b.local, newRegion(local, v.size, n))
	}
	for r, v := range e.fixed {
		fill(b.reg[r], v)
	}
	for i, p := range e.params {
		fill(b.reg[p.slot], low(args[i], p.bits))
	}
	return b
}

func fill(row []uint64, v uint64) {
	for i := range row {
		row[i] = v
	}
}

// guarded runs a block and converts its trap to a Fault.
func (b *block) guarded(index [3]int) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case trap:
			err = &Fault{b.e.Name, b.line, b.e.mod.line(b.line), b.index, b.thread(int(p.lane)), p.address, p.text}
		default:
			panic(p)
		}
	}()
	b.start(index)
	b.run()
	return nil
}

// thread returns the position of a lane in the block.
func (b *block) thread(l int) [3]int {
	return [3]int{l % b.size[0], l / b.size[0] % b.size[1], l / b.size[0] / b.size[1]}
}

// special sets the values of a special register in all lanes.
func (b *block) special(name string, row []uint64) {
	axis := int(name[len(name)-1] - 'x')
	switch name[:len(name)-2] {
	case "%tid":
		for l := range row {
			row[l] = uint64(b.thread(l)[axis])
		}
	case "%ntid":
		fill(row, uint64(b.size[axis]))
	case "%ctaid":
		fill(row, uint64(b.index[axis]))
	case "%nctaid":
		fill(row, uint64(b.grid[axis]))
	}
}
