package ptx

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

//go:embed testdata/tile.ptx
var tile string

const rows, threads = 200, 64 // the last tile and the last block are incomplete

// tiles runs the kernel tile over two lists of rows values.
func tiles(text string) ([]float32, error) {
	m := New()
	m.Budget = 1 << 16
	mod, err := m.Load(text)
	if err != nil {
		return nil, err
	}
	a, c := m.Alloc(4*rows), m.Alloc(4*rows)
	m.Write(a, floatBytes(input()))
	grid := [3]int{(rows + threads - 1) / threads, 1, 1}
	if err := m.Launch(mod.Entries["tile"], grid, [3]int{threads, 1, 1}, a, c, rows); err != nil {
		return nil, err
	}
	data := make([]byte, 4*rows)
	if err := m.Read(data, c); err != nil {
		return nil, err
	}
	got := make([]float32, rows)
	for i := range got {
		got[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return got, nil
}

func input() []float32 {
	a := make([]float32, rows)
	for i := range a {
		a[i] = float32(math.Sin(float64(i)))
	}
	return a
}

func floatBytes(v []float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// TestTile checks that the kernel without bugs gives the same bits as the same chain in Go.
func TestTile(t *testing.T) {
	got, err := tiles(tile)
	if err != nil {
		t.Fatal(err)
	}
	a := append(input(), make([]float32, threads)...) // with zeros after the end
	for i := range got {
		s := float32(0)
		for k := 0; k < rows; k += 64 {
			for j := range 64 {
				s = fma32(a[k+j], a[k+(j+i%threads)&63], s)
			}
		}
		if want := s / 3; got[i] != want {
			t.Fatalf("c[%d] = %g, want %g", i, got[i], want)
		}
	}
}

// TestPlanted checks that each bug in the kernel is found and described correctly.
func TestPlanted(t *testing.T) {
	for _, bug := range []struct{ name, old, new, want string }{
		{"no barrier behind the stores", "[%rd1], %f15;\n\tbar.sync \t0;", "[%rd1], %f15;", "race: thread"},
		{"no barrier before the next tile", "LBB0_6:\n\tbar.sync \t0;", "LBB0_6:", "race: another thread has read"},
		{"the edge of the input one too far", "setp.ge.s32 \t%p2", "setp.gt.s32 \t%p2", "out of bounds: bytes 800 to 804 of 800"},
		{"the edge of the output one too far", "setp.lt.s32 \t%p5", "setp.le.s32 \t%p5", "out of bounds"},
		{"a guard the wrong way round", "@%p2 bra", "@!%p2 bra", "out of bounds"},
		{"an index one too far", "[%rd14];", "[%rd14+4];", "out of bounds: bytes 256 to 260 of 256"},
		{"an index before the first", "[%rd14];", "[%rd14+-4];", "in no buffer"},
		{"half an index", "[%rd14];", "[%rd14+2];", "misaligned"},
		{"a wrong mask", "%r13, 63;", "%r13, 127;", "out of bounds"},
		{"shared memory never written", "st.shared.f32 \t[%rd1], %f15;", "", "never written"},
		{"a register never written", "mov.u64 \t%rd16, %rd9;", "", "a register that was never written"},
		{"a loop without end", "add.s32 \t%r15, %r15, 64;", "", "it runs on"},
		{"another space", "st.global.f32", "st.shared.f32", "another space"},
		{"all threads to one place", "add.s64 \t%rd2, %rd7, %rd15;", "mov.u64 \t%rd2, %rd7;", "race: thread"},
		{"all blocks to one place", "mul.wide.s32 \t%rd15, %r2, 4;", "mul.wide.s32 \t%rd15, %r1, 4;", "race: another block"},
		{"the output written over the input", "ld.param.u64 \t%rd7, [tile_param_1];",
			"ld.param.u64 \t%rd7, [tile_param_0];", "read-only cache"},
		{"a return before the barrier", "setp.ge.s32 \t%p2, %r11, %r7;\n\tmov.f32 \t%f15, %f9;\n\t@%p2 bra \tLBB0_4;",
			"setp.ge.s32 \t%p2, %r11, %r7;\n\tmov.f32 \t%f15, %f9;\n\t@%p2 bra \tLBB0_9;", "the others have returned"},
		{"a barrier in divergent code", "@%p2 bra \tLBB0_4;", "@%p2 bra \tLBB0_4;\n\tbar.sync \t0;", "different barriers"},
		{"a sum that may be fused", "fma.rn.f32", "mad.f32", "could fuse"},
		{"flushed subnormals", "fma.rn.f32", "fma.rn.ftz.f32", "ftz is not IEEE"},
		{"a fast quotient", "div.rn.f32", "div.full.f32", "full is not IEEE"},
		{"a label that is not there", "bra.uni \tLBB0_9", "bra.uni \tLBB0_19", "no label"},
		{"an integer register for a float64's", "st.global.f32 \t[%rd2], %f2", "st.global.f64 \t[%rd2], %f2", "has 32 bits"},
		{"shared memory above the limit", "part[256]", "part[49156]", "49156 bytes of shared memory"},
		{"a block for which it was not compiled", ")\n{", ")\n.reqntid 128, 1, 1\n{", "compiled for"},
	} {
		if !strings.Contains(tile, bug.old) {
			t.Fatalf("%s: tile.ptx has no %q", bug.name, bug.old)
		}
		_, err := tiles(strings.Replace(tile, bug.old, bug.new, 1))
		if err == nil || !strings.Contains(err.Error(), bug.want) {
			t.Errorf("%s: %v, want %q", bug.name, err, bug.want)
		}
	}
}

// TestRaceSaysWhere checks that the instruction, the threads and the address of a race
// match the two accesses.
func TestRaceSaysWhere(t *testing.T) {
	_, err := tiles(strings.Replace(tile, "[%rd1], %f15;\n\tbar.sync \t0;", "[%rd1], %f15;", 1))
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, not a Fault", err)
	}
	if f.Kernel != "tile" || !strings.HasPrefix(f.Instruction, "ld.shared.f32 %f") || f.Address != "shared variable tile_$_part, byte 0" {
		t.Errorf("kernel %q, instruction %q, address %q", f.Kernel, f.Instruction, f.Address)
	}
	for _, part := range []string{"tile, line", "ld.shared.f32", "at shared variable tile_$_part, byte 0"} {
		if !strings.Contains(f.Error(), part) {
			t.Errorf("%v: %q is missing", f, part)
		}
	}
}

// TestFaultSaysWhere checks that the line, block and thread of a fault match the bug.
func TestFaultSaysWhere(t *testing.T) {
	_, err := tiles(strings.Replace(tile, "setp.lt.s32 \t%p5", "setp.le.s32 \t%p5", 1))
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, not a Fault", err)
	}
	line := strings.Split(tile, "\n")[f.Line-1]
	if !strings.Contains(line, "st.global.f32") || f.Block != [3]int{3} || f.Thread != [3]int{8} {
		t.Errorf("%v: line %q", f, line)
	}
}
