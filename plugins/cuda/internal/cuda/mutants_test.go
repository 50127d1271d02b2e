package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mutant is a kernel with one instruction changed.
type mutant struct {
	kernel string
	line   int // line of the PTX, from 1
	what   string
	text   string // a module with this kernel alone
	of     string // the module without a fault
}

var (
	entry    = regexp.MustCompile(`^\.visible \.entry (\w+)\(`)
	declared = regexp.MustCompile(`^(\t\.reg \.b(?:16|32|64) +\t%r[sd]?<)(\d+)>;$`)
	stored   = regexp.MustCompile(`^(\t(?:@\S+ )?st\.global\.)[fu](8|32|64)( \t\[[^\]]+\], )%\w+;$`)
	source   = regexp.MustCompile(`%\w+;$`)
	computed = regexp.MustCompile(`^\t(?:add|sub|mul|fma|div)\.rn\.f32 \t(%f\d+), `)
	product  = regexp.MustCompile(`^\tmma\.sync\S+ \{%\w+.*\}, \{(%r\d+).*\}, \{(%r\d+).*\}, \{`)
	literal  = regexp.MustCompile(`\b0f([0-9A-F]{8})\b`)
)

// guards are kernels that store decisions. Faults are planted in each of their sums, and in the numbers
// that they compare sums with.
var guards = []string{"winograd_even", "winograd_suspects", "channel_uneven"}

// planted is a place in the PTX where mutants are made.
type planted struct {
	of     string
	lines  []string
	kernel string
	begins int // line of the kernel
	at     int // line of the instruction
}

// mutants returns one mutant for every value that a kernel stores, with the last bit
// flipped (one step of a byte). For guards it also returns one for every sum and for every
// number except 0, and for products of matrices one with another byte of each matrix.
func mutants(of string) (all []mutant) {
	p := planted{of: of, lines: strings.Split(of, "\n")}
	for i, s := range p.lines {
		p.at = i
		if m := entry.FindStringSubmatch(s); m != nil {
			p.kernel, p.begins = m[1], i
		}
		all = append(all, p.instruction(s)...)
	}
	return all
}

func (p planted) instruction(s string) (all []mutant) {
	if m := stored.FindStringSubmatch(s); m != nil {
		all = append(all, p.store(m[1], m[2], m[3], strings.TrimSuffix(source.FindString(s), ";"), 0))
	}
	if m := product.FindStringSubmatch(s); m != nil {
		r := p.free("%r")
		for _, of := range m[1:] {
			flip := fmt.Sprintf("\txor.b32 %s, %s, 65536;", r[0], of) // the last bit of the third byte
			all = append(all, p.with("a byte", flip, strings.Replace(s, "{"+of, "{"+r[0], 1)))
		}
	}
	if !slices.Contains(guards, p.kernel) {
		return all
	}
	if m := computed.FindStringSubmatch(s); m != nil {
		r := p.free("%r")
		all = append(all, p.with("a sum", s, fmt.Sprintf("\tmov.b32 %s, %s;", r[0], m[1]),
			fmt.Sprintf("\txor.b32 %s, %s, 1;", r[1], r[0]), fmt.Sprintf("\tmov.b32 %s, %s;", m[1], r[1])))
	}
	if m := literal.FindStringSubmatch(s); m != nil && m[1] != "00000000" {
		bits, _ := strconv.ParseUint(m[1], 16, 32) // the expression has digits
		all = append(all, p.with("a number", strings.Replace(s, m[0], fmt.Sprintf("0f%08X", bits^1), 1)))
	}
	return all
}

// store returns a mutant that stores a value with one bit flipped.
func (p planted) store(head, width, to, from string, bit int) mutant {
	of, kind := width, map[string]string{"32": "%r", "64": "%rd"}[width] // number of bits of a register
	if width == "8" {
		of, kind = "32", "%r"
		if strings.HasPrefix(from, "%rs") {
			of, kind = "16", "%rs"
		}
	}
	r := p.free(kind)
	return p.with("a value", fmt.Sprintf("\tmov.b%s %s, %s;", of, r[0], from),
		fmt.Sprintf("\txor.b%s %s, %s, %d;", of, r[1], r[0], 1<<bit), head+"u"+width+to+r[1]+";")
}

// place returns the place in the original PTX where m differs.
func (m mutant) place() planted {
	p := planted{of: m.of, lines: strings.Split(m.of, "\n"), kernel: m.kernel, at: m.line - 1}
	p.begins = slices.Index(p.lines, ".visible .entry "+m.kernel+"(")
	return p
}

// coarser returns the mutant that flips the last bit of a float32 instead of a float64. It reports false
// if m does not flip a bit of a float64.
func (m mutant) coarser() (mutant, bool) {
	p := m.place()
	s := p.lines[p.at]
	f := stored.FindStringSubmatch(s)
	if f == nil || f[2] != "64" {
		return mutant{}, false
	}
	return p.store(f[1], f[2], f[3], strings.TrimSuffix(source.FindString(s), ";"), 29), true
}

// trapped returns a mutant that always fails at the place of m. It shows whether a case executes this
// place.
func (m mutant) trapped() mutant {
	p := m.place()
	r := p.free("%rd")
	return p.with("a trap", "\tmov.u64 "+r[0]+", 0;", "\tld.global.u64 "+r[1]+", ["+r[0]+"];", p.lines[p.at])
}

// free returns two registers that the kernel does not use.
func (p planted) free(kind string) [2]string {
	for _, s := range p.lines[p.begins:p.at] {
		if m := declared.FindStringSubmatch(s); m != nil && strings.HasSuffix(m[1], "\t"+kind+"<") {
			n, _ := strconv.Atoi(m[2]) // the expression has digits
			return [2]string{fmt.Sprint(kind, n), fmt.Sprint(kind, n+1)}
		}
	}
	panic("the kernel " + p.kernel + " declares no " + kind)
}

// with returns a mutant that has other lines in place of the instruction. Its kernel has two more registers
// of each kind.
func (p planted) with(what string, other ...string) mutant {
	lines := slices.Concat(p.lines[:p.at], other, p.lines[p.at+1:])
	for i, s := range lines[p.begins:p.at] {
		if m := declared.FindStringSubmatch(s); m != nil {
			n, _ := strconv.Atoi(m[2])
			lines[p.begins+i] = fmt.Sprintf("%s%d>;", m[1], n+2)
		}
	}
	return mutant{p.kernel, p.at + 1, what, alone(lines, p.begins), p.of}
}

// alone returns a module with only one of its kernels: the one that begins at line begins.
func alone(lines []string, begins int) string {
	first := slices.IndexFunc(lines, entry.MatchString)
	ends := begins + slices.Index(lines[begins:], "}")
	return strings.Join(slices.Concat(lines[:first], lines[begins:ends+1]), "\n")
}
