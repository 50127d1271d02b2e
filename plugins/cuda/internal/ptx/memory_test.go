package ptx

import (
	"fmt"
	"strings"
	"testing"
)

// kernel is a module with one kernel of two pointers.
func kernel(body string) string {
	return `.version 6.0
.target sm_70
.address_size 64
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.visible .entry k(
	.param .u64 k_param_0,
	.param .u64 k_param_1
)
{
	.local .align 4 .b8 	depot[8];
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [k_param_0];
	ld.param.u64 %rd2, [k_param_1];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
` + body + `
	ret;
}
`
}

// launch runs a kernel on two buffers, of 32 and of 64 bytes. Only the first buffer was written.
func launch(body string, grid, size [3]int) (*Machine, uint64, error) {
	m := New()
	mod, err := m.Load(kernel(body))
	if err != nil {
		return m, 0, err
	}
	a, c := m.Alloc(32), m.Alloc(64)
	m.Write(a, make([]byte, 32))
	return m, c, m.Launch(mod.Entries["k"], grid, size, a, c)
}

// TestMemory checks the contents of each space, and the accesses that it refuses.
func TestMemory(t *testing.T) {
	one, eight := [3]int{1, 1, 1}, [3]int{8, 1, 1}
	for _, test := range []struct{ name, body, want string }{
		{"a copy", "ld.global.u32 %r2, [%rd4];\nst.global.u32 [%rd5], %r2;", ""},
		{"a vector", "mul.wide.u32 %rd6, %r1, 8;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.v2.u32 [%rd6], {%r1, %r1};\n" +
			"ld.global.v2.u32 {%r2, %r3}, [%rd6];", ""},
		{"a vector between two", "st.global.v2.u32 [%rd5], {%r1, %r1};", "misaligned"},
		{"the address of a parameter", "mov.u64 %rd6, k_param_0;", "not known"},
		{"a constant", "mov.u64 %rd6, table;\nld.const.u32 %r2, [%rd6+4];\nst.global.u32 [%rd5], %r2;", ""},
		{"behind a constant", "mov.u64 %rd6, table;\nld.const.u32 %r2, [%rd6+8];", "out of bounds"},
		{"local memory", "mov.u64 %rd6, depot;\nst.local.u32 [%rd6+4], %r1;\nld.local.u32 %r2, [%rd6+4];\n" +
			"st.global.u32 [%rd5], %r2;", ""},
		{"local memory never written", "mov.u64 %rd6, depot;\nld.local.u32 %r2, [%rd6+4];", "never written"},
		{"global memory never written", "ld.global.u32 %r2, [%rd5];", "never written"},
		{"a pointer that is none", "ld.global.u32 %r2, [%rd3];", "in no buffer"},
		{"a number above the largest address", "mov.u64 %rd6, -1;\nld.global.u32 %r2, [%rd6];", "behind a block's memory"},
		{"a sum over threads", "ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1], %r1;", "race: another thread has read"},
		{"a buffer behind a barrier", "st.global.u32 [%rd5], %r1;\nbar.sync 0;\nxor.b32 %r3, %r1, 1;\n" +
			"mul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd6, %rd2, %rd6;\nld.global.u32 %r2, [%rd6];",
			"race: thread 1 has written what it reads, with no barrier for buffers between, at buffer 3, byte 4"},
		{"a buffer written behind a barrier", "ld.global.u32 %r2, [%rd4];\nbar.sync 0;\nxor.b32 %r3, %r1, 1;\n" +
			"mul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd6, %rd1, %rd6;\nst.global.u32 [%rd6], %r1;",
			"race: another thread has read what it writes, with no barrier for buffers between, at buffer 2, byte 4"},
		{"a thread's own part of a buffer", "st.global.u32 [%rd5], %r1;\nbar.sync 0;\nld.global.u32 %r2, [%rd5];\n" +
			"bar.sync 0;\nst.global.u32 [%rd5], %r2;", ""},
		{"an atomic", "atom.global.add.u32 %r2, [%rd4], %r1;", "atom"},
		{"what the launch wrote", "st.global.u32 [%rd4], %r1;\nld.global.nc.u32 %r2, [%rd4];", "read-only cache"},
		{"two bytes", "ld.global.u16 %r2, [%rd4];", "1, 4 or 8 bytes"},
		{"bytes beside each other", "cvt.u64.u32 %rd6, %r1;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u8 [%rd6], %r1;\n" +
			"ld.global.s8 %r2, [%rd6];", ""},
		{"one byte by all", "st.global.u8 [%rd2+3], %r1;", "race: thread 0 has written the same word"},
		{"a byte of a word of another", "st.global.u32 [%rd5], %r1;\nld.global.u8 %r2, [%rd2];",
			"race: thread 0 has written"},
		{"a byte never written", "cvt.u64.u32 %rd6, %r1;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u8 [%rd6], %r1;\n" +
			"ld.global.u8 %r2, [%rd6+8];", "never written"},
		{"a zero below the line", "div.u32 %r2, %r1, 0;", "divided by zero"},
		{"a guarded instruction", "@%p1 mov.u32 %r2, 0;", "before branches only"},
		{"a branch that asks nothing", "@%p1 bra L;\nL:", "never written"},
		{"another barrier", "bar.sync 1;", "barrier 0"},
		{"a constant written", "mov.u32 7, %r1;", "not a register"},
	} {
		_, _, err := launch(test.body, one, eight)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestLimits checks that launches above the target's limits are refused.
func TestLimits(t *testing.T) {
	one := [3]int{1, 1, 1}
	for _, test := range []struct {
		grid, size [3]int
		want       string
	}{
		{one, [3]int{1025, 1, 1}, "beyond the limits"}, {one, [3]int{32, 32, 2}, "2048 threads in a block"},
		{one, [3]int{1, 1, 65}, "beyond the limits"}, {[3]int{1, 65536, 1}, one, "beyond the limits"},
		{[3]int{0, 1, 1}, one, "beyond the limits"}, {[3]int{2, 3, 2}, one, ""},
	} {
		_, _, err := launch("", test.grid, test.size)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v blocks of %v: %v, want %q", test.grid, test.size, err, test.want)
		}
	}
}

// TestHost checks that copies between host and buffers stay within them, and that the host
// only reads written memory.
func TestHost(t *testing.T) {
	m, c, err := launch("ld.global.u32 %r2, [%rd4];\nst.global.u32 [%rd5], %r1;", [3]int{1, 1, 1}, [3]int{8, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 32)
	if err := m.Read(got, c); err != nil || fmt.Sprint(got[:8]) != "[0 0 0 0 1 0 0 0]" {
		t.Errorf("got %v, %v", got, err)
	}
	d := m.Alloc(64)
	for name, err := range map[string]error{
		"a read of what was never written": m.Read(got, c+32),
		"a read across the end":            m.Read(got, c+48),
		"a write across the end":           m.Write(c+48, got),
		"a copy of too much":               m.Copy(d, c, 68),
		"a free of a middle":               m.Free(c + 4),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if m.Copy(d, c, 64) != nil || m.Read(got, d) != nil || m.Read(got, d+32) == nil {
		t.Error("a copy does not keep what was written and what was not")
	}
	if m.Free(c) != nil || m.Read(got, c) == nil || m.Free(c) == nil {
		t.Error("a freed buffer is there")
	}
}
