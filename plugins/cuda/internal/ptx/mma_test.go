package ptx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A shape is an mma.sync of bytes, with the number of registers that a thread has for each matrix.
type shape struct {
	name            string
	rows, depth     int
	left, right, to int
}

var shapes = []shape{
	{"m16n8k32", 16, 32, 4, 2, 4},
	{"m8n8k16", 8, 16, 1, 1, 2},
}

// leftAt, rightAt and sumAt are the formulas of the PTX ISA manual, which the comments quote: the row and the
// column of byte i, or sum i, of the registers of a thread.
func (s shape) leftAt(lane, i int) (row, column int) {
	group, member := lane>>2, lane%4
	row = group // m16n8k32: groupID for ai where 0 <= i < 4 || 8 <= i < 12; groupID + 8 otherwise
	if s.rows == 16 && !(0 <= i && i < 4 || 8 <= i && i < 12) {
		row = group + 8
	}
	column = member*4 + i&3 // (threadID_in_group * 4) + (i & 0x3) for ai where i < 8; + 16 where i >= 8
	if i >= 8 {
		column += 16
	}
	return row, column
}

func (s shape) rightAt(lane, i int) (row, column int) {
	row = lane%4*4 + i&3 // (threadID_in_group * 4) + (i & 0x3) for bi where i < 4; + 16 where i >= 4
	if i >= 4 {
		row += 16
	}
	return row, lane >> 2
}

func (s shape) sumAt(lane, i int) (row, column int) {
	row = lane >> 2 // groupID for ci where i < 2; groupID + 8 for i >= 2
	if i >= 2 {
		row += 8
	}
	return row, lane%4*2 + i&1
}

// multiply runs the instruction on one warp, with matrices of bytes (left[row][k], right[k][column]).
func (s shape) multiply(t *testing.T, types string, left, right [][]byte, sums [][]uint32) [][]uint32 {
	t.Helper()
	m, e := kernelOf(t, s, types)
	words := func(n int, at func(lane, i int) uint32) uint64 {
		b := m.Alloc(4 * n * warpSize)
		var data []byte
		for lane := range warpSize {
			for i := range n {
				v := at(lane, i)
				data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
			}
		}
		if err := m.Write(b, data); err != nil {
			t.Fatal(err)
		}
		return b
	}
	quad := func(of func(lane, i int) byte) func(lane, i int) uint32 {
		return func(lane, i int) (v uint32) {
			for j := range 4 {
				v |= uint32(of(lane, 4*i+j)) << (8 * j)
			}
			return v
		}
	}
	a := words(s.left, quad(func(lane, i int) byte {
		row, k := s.leftAt(lane, i)
		return left[row][k]
	}))
	b := words(s.right, quad(func(lane, i int) byte {
		k, column := s.rightAt(lane, i)
		return right[k][column]
	}))
	c := words(s.to, func(lane, i int) uint32 { row, column := s.sumAt(lane, i); return sums[row][column] })
	d := m.Alloc(4 * s.to * warpSize)
	if err := m.Launch(e, [3]int{1, 1, 1}, [3]int{warpSize, 1, 1}, a, b, c, d); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4*s.to*warpSize)
	if err := m.Read(data, d); err != nil {
		t.Fatal(err)
	}
	got := matrix[uint32](s.rows, 8)
	for lane := range warpSize {
		for i := range s.to {
			row, column := s.sumAt(lane, i)
			at := data[4*(lane*s.to+i):]
			got[row][column] = uint32(at[0]) | uint32(at[1])<<8 | uint32(at[2])<<16 | uint32(at[3])<<24
		}
	}
	return got
}

func matrix[T byte | uint32](rows, columns int) [][]T {
	m := make([][]T, rows)
	for i := range m {
		m[i] = make([]T, columns)
	}
	return m
}

// kernelOf returns a kernel in which each thread loads the registers of A, B and C, multiplies, and stores
// those of D.
func kernelOf(t *testing.T, s shape, types string) (*Machine, *Entry) {
	t.Helper()
	m := New()
	mod, err := m.Load(s.text(types, ""))
	if err != nil {
		t.Fatal(err)
	}
	return m, mod.Entries["product"]
}

// text returns the kernel. before is executed before the product.
func (s shape) text(types, before string) string {
	var t strings.Builder
	t.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry product(\n" +
		".param .u64 p0,\n.param .u64 p1,\n.param .u64 p2,\n.param .u64 p3\n)\n{\n" +
		".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<9>;\nmov.u32 %r0, %tid.x;\n")
	next := 1
	lists := make([]string, 4)
	for i, n := range []int{s.left, s.right, s.to, s.to} {
		fmt.Fprintf(&t, "ld.param.u64 %%rd%d, [p%d];\nmul.wide.u32 %%rd8, %%r0, %d;\n", i, i, 4*n)
		fmt.Fprintf(&t, "add.s64 %%rd%d, %%rd%d, %%rd8;\n", i, i)
		var names []string
		for j := range n {
			names = append(names, fmt.Sprintf("%%r%d", next))
			if i < 3 {
				fmt.Fprintf(&t, "ld.global.u32 %%r%d, [%%rd%d+%d];\n", next, i, 4*j)
			}
			next++
		}
		lists[i] = "{" + strings.Join(names, ", ") + "}"
	}
	fmt.Fprintf(&t, "%smma.sync.aligned.%s.row.col.s32.%s.s32 %s, %s, %s, %s;\n", before, s.name, types, lists[3],
		lists[0], lists[1], lists[2])
	for j, name := range strings.Split(strings.Trim(lists[3], "{}"), ", ") {
		fmt.Fprintf(&t, "st.global.u32 [%%rd3+%d], %s;\n", 4*j, name)
	}
	t.WriteString("L9:\nret;\n}\n")
	return t.String()
}

// TestProductOfIdentity checks that a product with the identity is the other matrix. It would not be if an
// element were in another place than in the manual.
func TestProductOfIdentity(t *testing.T) {
	for _, s := range shapes {
		none := matrix[uint32](s.rows, 8)
		for at := 0; at < s.depth; at += 8 { // the identity of 8 by 8, at any depth
			left, right := matrix[byte](s.rows, s.depth), matrix[byte](s.depth, 8)
			for i := range s.rows {
				for k := range s.depth {
					left[i][k] = byte(i*s.depth + k)
				}
			}
			for j := range 8 {
				right[at+j][j] = 1
			}
			got := s.multiply(t, "u8.s8", left, right, none)
			for i := range got {
				for j := range 8 {
					if got[i][j] != uint32(left[i][at+j]) {
						t.Fatalf("%s: A*I at %d: element %d, %d is %d, want %d", s.name, at, i, j, got[i][j],
							left[i][at+j])
					}
				}
			}
		}
		for at := 0; at < s.depth; at += s.rows {
			left, right := matrix[byte](s.rows, s.depth), matrix[byte](s.depth, 8)
			for i := range s.rows {
				left[i][at+i] = 1
			}
			for k := range s.depth {
				for j := range 8 {
					right[k][j] = byte(k*8 + j)
				}
			}
			got := s.multiply(t, "u8.s8", left, right, none)
			for i := range got {
				for j := range 8 {
					if want := uint32(int8(right[at+i][j])); got[i][j] != want {
						t.Fatalf("%s: I*B at %d: element %d, %d is %d, want %d", s.name, at, i, j, int32(got[i][j]),
							int32(want))
					}
				}
			}
		}
	}
}

// TestProductOfOne checks single products: one element of A and one of B that are not zero change one sum, if
// their depths are equal, and no other.
func TestProductOfOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		for range 400 {
			left, right, sums := matrix[byte](s.rows, s.depth), matrix[byte](s.depth, 8), matrix[uint32](s.rows, 8)
			for i := range sums {
				for j := range 8 {
					sums[i][j] = r.Uint32()
				}
			}
			i, k, l, j := r.IntN(s.rows), r.IntN(s.depth), r.IntN(s.depth), r.IntN(8)
			if r.IntN(2) == 0 {
				l = k
			}
			left[i][k], right[l][j] = 255, 128
			got := s.multiply(t, "u8.s8", left, right, sums)
			for row := range got {
				for column := range 8 {
					want := sums[row][column]
					if row == i && column == j && k == l {
						want -= 255 * 128
					}
					if got[row][column] != want {
						t.Fatalf("%s: A[%d][%d]*B[%d][%d]: sum %d, %d is %d, want %d", s.name, i, k, l, j, row, column,
							got[row][column], want)
					}
				}
			}
		}
	}
}

// TestProductTypes checks random matrices against sums in Go, with all types of bytes. Sums wrap round.
func TestProductTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	value := map[string]func(byte) int32{"u8": func(v byte) int32 { return int32(v) },
		"s8": func(v byte) int32 { return int32(int8(v)) }}
	for _, s := range shapes {
		for _, types := range []string{"u8.s8", "s8.u8", "u8.u8", "s8.s8"} {
			a, b, _ := strings.Cut(types, ".")
			left, right, sums := matrix[byte](s.rows, s.depth), matrix[byte](s.depth, 8), matrix[uint32](s.rows, 8)
			for _, m := range [][][]byte{left, right} {
				for i := range m {
					for k := range m[i] {
						m[i][k] = byte(r.Uint32())
					}
				}
			}
			for i := range sums {
				for j := range 8 {
					sums[i][j] = 1<<31 - uint32(r.IntN(1<<16))
				}
			}
			got := s.multiply(t, types, left, right, sums)
			for i := range got {
				for j := range 8 {
					want := int32(sums[i][j])
					for k := range s.depth {
						want += value[a](left[i][k]) * value[b](right[k][j])
					}
					if int32(got[i][j]) != want {
						t.Fatalf("%s, %s: sum %d, %d is %d, want %d", s.name, types, i, j, int32(got[i][j]), want)
					}
				}
			}
		}
	}
}

// TestProductOfAPart checks that a product that some threads of a warp do not reach is a fault.
func TestProductOfAPart(t *testing.T) {
	for _, c := range []struct{ before, want string }{
		{"setp.eq.u32 %p1, %r0, 7;\n@%p1 bra L9;\n", "31 of 32 threads of the warp compute a product"},
		{"setp.lt.u32 %p1, %r0, 12;\n@!%p1 bra L9;\n", "12 of 32 threads of the warp compute a product"},
	} {
		s := shapes[0]
		m := New()
		mod, err := m.Load(s.text("u8.s8", c.before))
		if err != nil {
			t.Fatal(err)
		}
		b := m.Alloc(1 << 12)
		if err := m.Write(b, make([]byte, 1<<12)); err != nil {
			t.Fatal(err)
		}
		err = m.Launch(mod.Entries["product"], [3]int{1, 1, 1}, [3]int{2 * warpSize, 1, 1}, b, b, b, m.Alloc(1<<12))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestProductRefused checks the errors of products that the machine does not know.
func TestProductRefused(t *testing.T) {
	s := shapes[0]
	text := s.text("u8.s8", "")
	for _, c := range []struct{ old, new, want string }{
		{".row.col.s32", ".row.col.satfinite.s32", "saturate"},
		{"m16n8k32", "m16n8k16", "does not know"},
		{"m16n8k32", "m8n8k16", "operand 0 has 4 registers, not 2"},
		{".row.col", ".row.row", "does not know"},
		{".u8.s8", ".u8.f8", "does not know"},
		{"{%r7, %r8, %r9, %r10};", "{%r7, %r8, %r9, %rd1};", "has 64 bits"},
	} {
		if !strings.Contains(text, c.old) {
			t.Fatalf("the text has no %q", c.old)
		}
		_, err := New().Load(strings.Replace(text, c.old, c.new, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}
