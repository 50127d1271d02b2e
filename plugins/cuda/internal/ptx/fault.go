package ptx

import "fmt"

// A Fault is why a launch ended: what hardware would punish, or compute
// differently from one run to the next.
type Fault struct {
	Kernel        string
	Line          int // of the module's text, from 1; 0: before the first instruction
	Block, Thread [3]int
	Text          string
}

// Error says where and what.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("ptx: %s: %s", f.Kernel, f.Text)
	}
	return fmt.Sprintf("ptx: %s, line %d, block %v, thread %v: %s", f.Kernel, f.Line, f.Block, f.Thread, f.Text)
}

// trap is thrown by an instruction and caught by the block that runs it.
type trap struct {
	lane int32
	text string
}

func fail(lane int32, format string, args ...any) {
	panic(trap{lane, fmt.Sprintf(format, args...)})
}
