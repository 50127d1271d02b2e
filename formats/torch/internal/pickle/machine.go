package pickle

import "fmt"

// The cost of values, in bytes of memory: it includes growth of slices, the target of an
// interface, and rounding up by the allocator.
const (
	costSlot   = 48 // on the stack, in a list or tuple; with a number in it
	costHeader = 48 // cost of a string, bytes, a tuple or a long number, in addition to its slot
	costByte   = 4  // cost of a byte of a line, which grows as it is read
	costMemo   = 64
	costObject = 192
	costEntry  = 128 // cost of an entry of a dict, with its index
)

// machine is the state of one pickle.
type machine struct {
	*Reader
	stack []any
	marks []int // lengths of the stack at each MARK
	memo  map[uint64]any
	done  bool
}

// Load reads one pickle and returns its value. Errors name the offset and
// the opcode.
func (r *Reader) Load() (any, error) {
	m := &machine{Reader: r, memo: map[uint64]any{}}
	for !m.done {
		at := m.offset
		code, err := m.uint(1)
		if err != nil {
			return nil, fmt.Errorf("pickle at offset %d: %w", at, err)
		}
		op := opcodes[code]
		if op.run == nil {
			return nil, fmt.Errorf("pickle at offset %d: opcode 0x%02x%s is not supported", at, code, op.name)
		}
		if err := op.run(m); err != nil {
			return nil, fmt.Errorf("pickle at offset %d: %s: %w", at, op.name, err)
		}
	}
	return m.pop()
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return m.charge(costSlot)
}

// floor returns the length of the stack at the last MARK. The values below belong to earlier
// opcodes.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, fmt.Errorf("the stack is empty")
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

func (m *machine) top() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, fmt.Errorf("the stack is empty")
	}
	return m.stack[len(m.stack)-1], nil
}

// take removes and returns the last n values; the result is valid until the next push.
func (m *machine) take(n int) ([]any, error) {
	from := len(m.stack) - n
	if from < m.floor() {
		return nil, fmt.Errorf("%d values wanted, the stack has %d", n, len(m.stack)-m.floor())
	}
	values := m.stack[from:]
	m.stack = m.stack[:from]
	return values, nil
}

// takeMarked removes the values above the last MARK, and the MARK.
func (m *machine) takeMarked() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, fmt.Errorf("no mark on the stack")
	}
	from := m.floor()
	m.marks = m.marks[:len(m.marks)-1]
	values := m.stack[from:]
	m.stack = m.stack[:from]
	return values, nil
}

func (m *machine) remember(index uint64) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	m.memo[index] = v
	return m.charge(costMemo)
}

func (m *machine) recall(index uint64) error {
	v, ok := m.memo[index]
	if !ok {
		return fmt.Errorf("memo %d was never set", index)
	}
	return m.push(v)
}
