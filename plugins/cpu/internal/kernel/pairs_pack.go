package kernel

// PairsOrder holds the offsets of the weights of Pairs, block by block. A block is some
// values of the runs of all taps, few enough to stay in the cache.
type PairsOrder struct {
	run    int     // number of values of a run that are in one block; it is even
	blocks []Order // the last block may have fewer values
	absent bool    // true if some values have no weight
}

// blockValues is the approximate number of values of an output channel in a block.
const blockValues = 160

// NewPairsOrder returns the order of weights. The offset of value k of tap t is offsets[t*Run+k], as in
// Order.
func NewPairsOrder(p *Pairs, offsets []int) PairsOrder {
	o := PairsOrder{run: max(2, blockValues/max(p.Taps, 1)/2*2)}
	for k := 0; k < p.Run; k += o.run {
		n := min(o.run, p.Run-k)
		block := make([]int, 0, p.Taps*n)
		for t := range p.Taps {
			block = append(block, offsets[t*p.Run+k:][:n]...)
		}
		o.blocks = append(o.blocks, NewOrder(block))
		o.absent = o.absent || len(o.blocks[len(o.blocks)-1].number) < len(block)
	}
	return o
}

// Spare returns the number of values of temporary memory that PackPairs needs.
func (o PairsOrder) Spare() int {
	if len(o.blocks) == 0 {
		return 0
	}
	return len(o.blocks[0].offsets) * PanelLanes
}

// PackPairs fills the range of packed that belongs to one panel with weights of src, rounded. packed has
// PackedLen values. The output channels of src are step values apart.
func (s *Set) PackPairs(p *Pairs, panel int, packed []uint16, src []float32, order PairsOrder, step int,
	spare []float32) {
	first, width, real := p.panel(panel)
	packed = packed[p.Taps*p.Run*first:]
	src = src[min(first*step, len(src)):]
	offsets := make([]int32, order.run)
	for i := range offsets {
		offsets[i] = int32(4 * width * i)
	}
	for b, block := range order.blocks {
		n, k := min(order.run, p.Run-b*order.run), b*order.run
		values := spare[:len(block.offsets)*width]
		if order.absent {
			clear(values)
		}
		s.Gather(values, width, real, src, block, step, Factor{})
		s.RoundBF16(values)
		for t := range p.Taps {
			s.InterleaveBF16(PairsLine{Offsets: offsets[:n], Lanes: width}, packed[(t*p.Run+k)*width:],
				values[t*n*width:][:n*width], 1)
		}
	}
}
