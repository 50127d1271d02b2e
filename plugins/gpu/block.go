package gpu

import (
	"strconv"

	"github.com/bnctl/bnctl/graph"
)

// block is a block of results that one group of threads computes (kernels/29_block.cl).
type block struct{ rows, columns int }

// directBlock is the block of a direct convolution.
var directBlock = block{16, 512}

// blockOf returns the register block for products with the given number of rows.
func blockOf(rows int) block {
	if rows > 32 {
		return block{64, 128}
	}
	return block{32, 256}
}

// rowBlocks returns the number of blocks for the rows of all groups. columnBlocks returns the number of
// blocks for the columns.
func (b block) rowBlocks(groups, rows int) int { return groups * ((rows/groups + b.rows - 1) / b.rows) }
func (b block) columnBlocks(columns int) int   { return (columns + b.columns - 1) / b.columns }

// kernel returns the name of the variant of a kernel for this block.
func (b block) kernel(name string) string { return name + strconv.Itoa(b.rows) }

// product launches one group of threads for each block. The columns of all units are adjacent, n for each
// unit. The kernel receives its first unit, then the number of columns, then the other arguments.
type product struct {
	launch
	block
	rowBlocks int // number of blocks along the rows
	images    int // number of images in a unit, as the kernel counts them
}

// maxColumns is the maximum number of columns of a launch, unless one unit has more.
const maxColumns = 1 << 30

func (p *product) run(f *frame) error {
	if p.n == 0 || p.rowBlocks == 0 {
		return nil
	}
	units, most := f.units(p.kind), max(1, maxColumns/p.n)
	for first := 0; first < units; first += most {
		n := min(most, units-first) * p.n
		if err := f.launch(&p.launch, [2]int{p.columnBlocks(n), p.rowBlocks}, int32(first*p.images),
			int32(n)); err != nil {
			return err
		}
	}
	return nil
}

// product adds a launch of blocks: rowBlocks along the rows, over n columns of a unit.
func (c *compiler) product(b block, kernel string, kind graph.Kind, rowBlocks, n int, args ...any) {
	l := launch{kernel: b.kernel(kernel), kind: kind, n: n, args: args}
	c.steps = append(c.steps, &product{l, b, rowBlocks, 1})
}
