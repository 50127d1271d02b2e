package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Module is PTX that has been read and checked.
type Module struct {
	Target  string // for example "sm_70"
	Entries map[string]*Entry
	consts  map[string]uint64 // addresses of the module's constants
	text    string
}

// line returns a line of the text; the first is line 1. It returns "" for line 0.
func (mod *Module) line(n int) string {
	if n == 0 {
		return ""
	}
	return strings.Join(strings.Fields(strings.Split(mod.text, "\n")[n-1]), " ")
}

// An Entry is a kernel.
type Entry struct {
	Name   string
	mod    *Module
	Shared int // bytes of shared memory per block
	params []param
	shared []variable
	local  []variable
	exact  [3]int // required size of a block, or zeros
	most   [3]int // maximum size of a block, or zeros

	widths   []int          // number of bits of each register; 0: an immediate, which fits any width
	fixed    map[int]uint64 // values of immediates, by register
	specials map[string]int // registers of %tid.x and the like
	nodes    []node
}

type param struct {
	name string
	bits int
	slot int
}

type variable struct {
	name        string
	size, align int
}

// Load reads a module. The error names the line and the instruction that this machine does not know
// or does not allow.
func (m *Machine) Load(text string) (*Module, error) {
	l := split(text)
	mod := &Module{Entries: map[string]*Entry{}, consts: map[string]uint64{}, text: text}
	for {
		s, n, ok := l.next()
		if !ok {
			return mod, mod.check()
		}
		if err := m.directive(mod, l, s, n); err != nil {
			return nil, err
		}
	}
}

func (mod *Module) check() error {
	if mod.Target == "" || len(mod.Entries) == 0 {
		return fmt.Errorf("ptx: a module without a .target or without a kernel")
	}
	return nil
}

// directive reads one directive at the level of the module.
func (m *Machine) directive(mod *Module, l *lines, s string, n int) error {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case ".version", ".address_size":
		return expect(rest, map[string]string{".version": "5.0 6.0 6.5 7.0", ".address_size": "64"}[word], n)
	case ".target":
		mod.Target = rest
		return nil
	case ".visible":
		name, ok := strings.CutPrefix(rest, ".entry ")
		if !ok {
			break
		}
		e, err := mod.entry(l, strings.TrimRight(name, "()"), !strings.HasSuffix(name, "()"))
		if err != nil {
			return err
		}
		mod.Entries[e.Name] = e
		return nil
	case ".const":
		return m.constant(mod, rest, n)
	}
	return fmt.Errorf("ptx: line %d: %q is not known to this machine", n, s)
}

func expect(got, want string, n int) error {
	if !slices.Contains(strings.Fields(want), got) {
		return fmt.Errorf("ptx: line %d: %s, where this machine knows %s", n, got, want)
	}
	return nil
}

// constant parses `.align 4 .b8 name[8] = {0, 0, 128, 63};`. s begins with .align.
func (m *Machine) constant(mod *Module, s string, n int) error {
	head, list, ok := strings.Cut(s, " = {")
	v, err := declared(head, n)
	if err != nil || !ok {
		return fmt.Errorf("ptx: line %d: a constant that is not a list of bytes", n)
	}
	data := make([]byte, v.size)
	for i, item := range strings.Split(strings.TrimRight(list, "};"), ",") {
		b, err := strconv.ParseUint(strings.TrimSpace(item), 10, 8)
		if err != nil || i >= len(data) {
			return fmt.Errorf("ptx: line %d: byte %d of a constant: %q", n, i, item)
		}
		data[i] = byte(b)
	}
	mod.consts[v.name] = m.Alloc(v.size)
	return m.Write(mod.consts[v.name], data)
}

// declared parses `.align 4 .b8 name[1024]` or `.align 4 .f32 name`.
func declared(s string, n int) (variable, error) {
	f := strings.Fields(strings.TrimRight(s, ";"))
	if len(f) != 4 || f[0] != ".align" || bits(f[2][1:]) == 0 {
		return variable{}, fmt.Errorf("ptx: line %d: the declaration %q is not known", n, s)
	}
	align, err := strconv.Atoi(f[1])
	name, count, array := strings.Cut(strings.TrimSuffix(f[3], "]"), "[")
	many := 1
	if array && err == nil {
		many, err = strconv.Atoi(count)
	}
	if err != nil {
		return variable{}, fmt.Errorf("ptx: line %d: %w", n, err)
	}
	return variable{name, many * bits(f[2][1:]) / 8, align}, nil
}
