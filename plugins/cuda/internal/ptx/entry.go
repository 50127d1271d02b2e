package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// compiler compiles the text of an entry to instructions.
type compiler struct {
	*Entry
	mod    *Module
	regs   map[string]int
	words  map[uint64]int // registers that hold immediates, by value
	labels map[string]int // numbers of the nodes that labels mark
	open   bool           // the last node accepts instructions
}

// entry compiles a kernel, from the line after its name.
func (mod *Module) entry(l *lines, name string, params bool) (*Entry, error) {
	c := &compiler{mod: mod, regs: map[string]int{}, words: map[uint64]int{}, labels: map[string]int{}}
	c.Entry = &Entry{Name: name, mod: mod, fixed: map[int]uint64{}, specials: map[string]int{}}
	for params {
		s, n, ok := l.next()
		if !ok || s == ")" {
			break
		}
		if err := c.param(s, n); err != nil {
			return nil, err
		}
	}
	body, err := c.head(l)
	if err != nil {
		return nil, err
	}
	for _, st := range body {
		if err := c.statement(st); err != nil {
			return nil, fmt.Errorf("ptx: %s, line %d: %s: %w", name, st.line, st.op, err)
		}
	}
	return c.Entry, c.link()
}

// param parses `.param .u64 dense_param_0,`.
func (c *compiler) param(s string, n int) error {
	f := strings.Fields(strings.TrimRight(s, ","))
	if len(f) != 3 || bits(f[1][1:]) == 0 {
		return fmt.Errorf("ptx: line %d: the parameter %q is not known", n, s)
	}
	p := param{f[2], bits(f[1][1:]), c.register(f[1][1:])}
	c.params = append(c.params, p)
	c.regs["["+p.name+"]"] = p.slot
	return nil
}

// head reads the lines of a kernel up to its closing brace. It carries out directives and declarations,
// and returns the instructions.
func (c *compiler) head(l *lines) ([]statement, error) {
	var body []statement
	for {
		s, n, ok := l.next()
		switch {
		case !ok:
			return nil, fmt.Errorf("ptx: %s has no end", c.Name)
		case s == "}":
			return body, nil
		case s == "{" || strings.HasPrefix(s, ".pragma"):
		case strings.HasPrefix(s, "."):
			if err := c.declare(s, n); err != nil {
				return nil, err
			}
		case strings.HasSuffix(s, ":"):
			body = append(body, statement{line: n, op: s})
		default:
			st, err := parse(s, n)
			if err != nil {
				return nil, err
			}
			body = append(body, st)
		}
	}
}

// declare reads a directive of an entry.
func (c *compiler) declare(s string, n int) error {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case ".reg":
		return c.registers(strings.TrimRight(rest, ";"), n)
	case ".reqntid", ".maxntid":
		to := map[string]*[3]int{".reqntid": &c.exact, ".maxntid": &c.most}[word]
		_, err := fmt.Sscanf(rest, "%d, %d, %d", &to[0], &to[1], &to[2])
		return err
	}
	v, err := declared(rest, n)
	switch {
	case err != nil:
		return err
	case word == ".shared":
		c.regs[v.name] = c.value(sharedBase + uint64(len(c.shared))<<32)
		c.shared, c.Shared = append(c.shared, v), c.Shared+v.size
	case word == ".local":
		c.regs[v.name] = c.value(localBase + uint64(len(c.local))<<32)
		c.local = append(c.local, v)
	default:
		return fmt.Errorf("ptx: line %d: %s is not known to this machine", n, word)
	}
	return nil
}

// registers parses `.f32 %f<19>` or `.b64 %SP`.
func (c *compiler) registers(s string, n int) error {
	f := strings.Fields(s)
	if len(f) != 2 || bits(f[0][1:]) == 0 {
		return fmt.Errorf("ptx: line %d: the registers %q are not known", n, s)
	}
	name, count, many := strings.Cut(strings.TrimSuffix(f[1], ">"), "<")
	if !many {
		c.regs[name] = c.register(f[0][1:])
		return nil
	}
	k, err := strconv.Atoi(count)
	for i := range k {
		c.regs[name+strconv.Itoa(i)] = c.register(f[0][1:])
	}
	return err
}

func (c *compiler) register(kind string) int {
	c.widths = append(c.widths, bits(kind))
	return len(c.widths) - 1
}

// bits returns the width of a type, or 0 if kind is not a type. A predicate has one bit.
func bits(kind string) int {
	switch {
	case kind == "pred":
		return 1
	case len(kind) < 2 || !strings.Contains("bsuf", kind[:1]):
		return 0
	}
	w, err := strconv.Atoi(kind[1:])
	if err != nil || w != 8 && w != 16 && w != 32 && w != 64 {
		return 0
	}
	return w
}
