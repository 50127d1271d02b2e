package graph

import (
	"slices"
	"strings"
)

// function reads: func NAME(INPUTS) { LINES }
func (p *parser) function() {
	p.keyword("func")
	at := p.token
	name := p.want(word)
	p.build = NewBuilder(name, &p.state)
	if err := checkName(name); err != nil {
		p.fail(at, "%v", err)
	}
	p.want('(')
	list(p, ')', p.input)
	p.want('{')
	p.endLine()
	for p.skipLines(); p.token.symbol != '}' && p.err == nil; p.skipLines() {
		p.statement()
	}
	p.want('}')
	p.endLine()
	f := p.build.fn
	if err := f.checkResults(stateTypes(p.state)); err != nil {
		p.fail(at, "function %s: %v", name, err)
	}
	if p.functions = append(p.functions, f); len(p.functions) > maxFunctions {
		p.fail(at, "more than %d functions", maxFunctions)
	}
}

// input reads: NAME KIND DTYPE[SHAPE]
func (p *parser) input() Value {
	at := p.token
	name := p.want(word)
	t := Type{Kind: p.kind()}
	t.DType, t.Shape = p.shape()
	v := p.build.Input(name, t)
	p.built(at)
	return v
}

// built reports the builder's error, if any, at token t.
func (p *parser) built(t token) {
	p.build.Fail(p.build.fn.checkSize())
	if err := p.build.Err(); err != nil {
		p.fail(t, "%v", err)
	}
}

func (p *parser) kind() Kind {
	at := p.token
	k, err := ParseKind(p.want(word))
	if err != nil {
		p.fail(at, "%v", err)
	}
	return k
}

// statement reads a line of a function. The word after a keyword distinguishes it from a name, so a node may
// have the name of a keyword.
func (p *parser) statement() {
	at := p.token
	first := p.want(word)
	if p.token.symbol == word {
		p.special(at, first)
	} else {
		p.node(at, first)
	}
	if p.token.symbol != '}' {
		p.endLine()
	}
	p.built(at)
}

func (p *parser) special(word token, keyword string) {
	switch keyword {
	case "return", "keep":
		p.output(keyword == "keep")
	case "update":
		p.update()
	case "read":
		p.operand()
	case "input":
		p.input()
	default:
		p.fail(word, "found %v and a name, want a node or one of return, keep, update, read, input", word)
	}
}

// output reads the rest of a line that begins with "return": NAME [KIND] = VALUE
func (p *parser) output(keep bool) {
	name, kind := p.want(word), Whole
	if p.token.symbol == word {
		kind = p.kind()
	}
	p.want('=')
	at := p.token
	v := p.operand()
	if t := p.build.Type(v); p.err == nil && t.Kind != kind {
		p.fail(at, "output %s is declared as %v, but %v is %v", name, kind, at, t)
	}
	p.build.Output(name, v, keep)
}

// update reads the rest of a line that begins with "update": @STATE = VALUE
func (p *parser) update() {
	at := p.token
	state, ok := strings.CutPrefix(p.want(word), "@")
	if !ok {
		p.fail(at, "found %v, want @ and the name of a state tensor", at)
	}
	p.want('=')
	p.build.Update(state, p.operand())
}

// operand reads an operand.
func (p *parser) operand() Value {
	at := p.token
	return p.value(at, p.want(word))
}

// value returns the value of that name; @ and a name read a state tensor.
func (p *parser) value(word token, name string) Value {
	if v, ok := p.build.names[name]; ok {
		return v
	}
	if state, ok := strings.CutPrefix(name, "@"); ok {
		v := p.build.Read(state)
		p.built(word)
		return v
	}
	if p.err == nil && name != absent {
		p.fail(word, "no value is called %q up to here", name)
	}
	return None
}

// node reads the rest of a line after its first word: [, RESULTS] = OP(OPERANDS,
// ATTRIBUTES), or (OPERANDS, ATTRIBUTES) for a node without results, which begins with the
// operation.
func (p *parser) node(start token, first string) {
	var results []string
	if p.token.symbol != '(' {
		results = append(results, first)
		for p.take(',') {
			results = append(results, p.want(word))
		}
		p.want('=')
		start = p.token
		first = p.want(word)
	}
	op, ok := opNamed[first]
	if !ok && p.err == nil {
		p.fail(start, "unknown operation %q", first)
	}
	if p.err == nil {
		p.want('(')
		operands, attrs := p.arguments(op)
		p.build.named(op, results, attrs, operands...)
		p.built(start)
	}
}

// arguments reads operands and attributes up to the closing parenthesis.
func (p *parser) arguments(op Op) (operands []Value, attrs Attrs) {
	for n := 0; p.token.symbol != ')' && p.err == nil; n++ {
		if n > 0 {
			p.want(',')
		}
		at := p.token
		name := p.want(word)
		if p.take('=') {
			attrs = append(attrs, Attr{name, p.attribute(at, op, name)})
		} else {
			operands = append(operands, p.value(at, name))
		}
		if n > maxOperands {
			p.fail(at, "more than %d operands", maxOperands)
		}
	}
	p.want(')')
	slices.SortFunc(attrs, func(a, b Attr) int { return strings.Compare(a.Key, b.Key) })
	for len(operands) > 0 && operands[len(operands)-1] == None {
		operands = operands[:len(operands)-1]
	}
	return operands, attrs
}

// attribute reads a value of the type that op's attribute key has.
func (p *parser) attribute(word token, op Op, key string) any {
	attrs := op.row().attrs
	i := slices.IndexFunc(attrs, func(s attrSpec) bool { return s.key == key })
	if i < 0 {
		p.fail(word, "%v has no attribute %q", op, key)
		return nil
	}
	switch attrs[i].def.(type) {
	case int64:
		return p.int()
	case float64:
		return p.float()
	case bool:
		return p.bool()
	case string:
		return p.want(quoted)
	case []int64:
		p.want('[')
		return append([]int64{}, list(p, ']', p.int)...)
	}
	p.want('[')
	return append([]float64{}, list(p, ']', p.float)...)
}
