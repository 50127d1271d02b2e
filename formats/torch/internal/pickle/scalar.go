package pickle

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// maxLong is the length limit of LONG, in bytes: converting a number to text needs more
// than linear time.
const maxLong = 1024

func proto(m *machine) error {
	v, err := m.uint(1)
	if err == nil && v > 5 {
		err = fmt.Errorf("protocol %d; at most 5 is supported", v)
	}
	return err
}

func frame(m *machine) error { // frames only help buffering
	n, err := m.uint(8)
	if err == nil && n > uint64(max(m.remaining, 0)) {
		err = fmt.Errorf("truncated: a frame of %d bytes, %d remain", n, m.remaining)
	}
	return err
}

func stop(m *machine) error {
	m.done = true
	return nil
}

func constant(v any) func(*machine) error {
	return func(m *machine) error { return m.push(v) }
}

func binInt(m *machine) error {
	v, err := m.uint(4)
	if err != nil {
		return err
	}
	return m.push(int64(int32(v)))
}

func smallInt(size int) func(*machine) error {
	return func(m *machine) error {
		v, err := m.uint(size)
		if err != nil {
			return err
		}
		return m.push(int64(v))
	}
}

// long reads a two's complement number, little endian, of any length.
func long(size int) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(size)
		if err != nil {
			return err
		}
		if len(b) > maxLong {
			return fmt.Errorf("a number of %d bytes; at most %d are supported", len(b), maxLong)
		}
		return m.pushInteger(twosComplement(b))
	}
}

// pushInteger pushes v as an int64 if it fits.
func (m *machine) pushInteger(v *big.Int) error {
	if v.IsInt64() {
		return m.push(v.Int64())
	}
	return m.push(v)
}

func twosComplement(b []byte) *big.Int {
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

func binFloat(m *machine) error {
	var b [8]byte
	if err := m.fill(b[:]); err != nil {
		return err
	}
	var bits uint64
	for _, c := range b {
		bits = bits<<8 | uint64(c) // big endian, unlike everything else
	}
	return m.push(math.Float64frombits(bits))
}

// text reads a string; Python 2 wrote its names as byte strings.
func text(size int) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(size)
		if err != nil {
			return err
		}
		if err := m.charge(int64(len(b))); err != nil { // the copy
			return err
		}
		return m.push(string(b))
	}
}

func data(size int) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(size)
		if err != nil {
			return err
		}
		return m.push(Bytes(b))
	}
}
