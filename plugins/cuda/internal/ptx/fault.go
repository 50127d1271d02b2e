package ptx

import (
	"fmt"
	"slices"
)

// A Fault is the reason why a launch ended: the kernel did something that crashes on hardware, or that
// gives different results from one run to the next.
type Fault struct {
	Kernel        string
	Line          int    // line of the module's text, from 1; 0: before the first instruction
	Instruction   string // the text of that line
	Block, Thread [3]int
	Address       string // for a race, "buffer 3, byte 64"; otherwise empty
	Text          string
}

// Error returns the place and the reason.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("ptx: %s: %s", f.Kernel, f.Text)
	}
	text := f.Text
	if f.Address != "" {
		text += ", at " + f.Address
	}
	return fmt.Sprintf("ptx: %s, line %d (%s), block %v, thread %v: %s",
		f.Kernel, f.Line, f.Instruction, f.Block, f.Thread, text)
}

// trap is the value of a panic in an instruction. The block that runs the instruction recovers it.
type trap struct {
	lane    int32
	address string
	text    string
}

func fail(lane int32, format string, args ...any) {
	panic(trap{lane: lane, text: fmt.Sprintf(format, args...)})
}

// race ends the launch because of a race on a word of r.
func (b *block) race(lane int32, r *region, word int, format string, args ...any) {
	address := fmt.Sprintf("%s, byte %d", b.name(r), word*r.grain)
	panic(trap{lane, address, "race: " + fmt.Sprintf(format, args...)})
}

// name returns the name of a variable in shared memory, or the number of a buffer.
func (b *block) name(r *region) string {
	if i := slices.Index(b.shared, r); i >= 0 {
		return "shared variable " + b.e.shared[i].name
	}
	for id, of := range b.m.buffers {
		if of == r {
			return fmt.Sprintf("buffer %d", id)
		}
	}
	return "local memory"
}
