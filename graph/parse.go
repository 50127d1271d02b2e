package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// ParseGraph parses and checks the text form of a graph (see Graph.Text). Errors include
// line and column. It accepts untrusted input and runs in linear time.
func ParseGraph(text []byte) (*Graph, error) {
	p := parse(text, "graph")
	if p.err == nil && len(p.functions) != 1 {
		p.err = fmt.Errorf("%d functions, want one", len(p.functions))
	}
	if p.err != nil {
		return nil, fmt.Errorf("graph: %w", p.err)
	}
	g := &Graph{Name: p.title, State: p.state, Main: p.functions[0]}
	if err := g.checkForm(); err != nil {
		return nil, fmt.Errorf("graph %s: %w", g.Name, err)
	}
	return g, nil
}

// ParseProgram returns the program of a text form, as ParseGraph returns a graph.
func ParseProgram(text []byte) (*Program, error) {
	p := parse(text, "program")
	if p.err != nil {
		return nil, fmt.Errorf("program: %w", p.err)
	}
	g := &Program{Name: p.title, State: p.state, Functions: p.functions}
	if err := g.checkForm(); err != nil {
		return nil, fmt.Errorf("program %s: %w", g.Name, err)
	}
	return g, nil
}

// parser reads a text. Like its lexer it stops at the first error, so that
// its methods need not return one.
type parser struct {
	lexer
	title     string
	state     []State
	functions []*Function
	build     *Builder // builder of the current function
}

func parse(text []byte, form string) *parser {
	p := &parser{}
	if len(text) > maxText {
		p.err = fmt.Errorf("%d bytes of text, want at most %d", len(text), maxText)
		return p
	}
	p.src, p.line = string(text), 1
	p.advance()
	p.head(form)
	for p.skipLines(); p.token.symbol == word && p.token.text == "state"; p.skipLines() {
		p.declaration()
	}
	if err := checkStates(p.state); err != nil {
		p.fail(p.token, "%v", err)
	}
	for ; p.token.symbol != endOfFile; p.skipLines() {
		p.function()
	}
	return p
}

func (p *parser) head(form string) {
	p.skipLines()
	p.keyword("bnctl")
	p.keyword(form)
	if t := p.advance(); t.text != textVersion {
		p.fail(t, "version %v of the text form, this program knows version %s", t, textVersion)
	}
	p.endLine()
	p.skipLines()
	p.keyword(form)
	at := p.token
	p.title = p.want(quoted)
	if err := checkTitle(p.title); err != nil {
		p.fail(at, "%v", err)
	}
	p.endLine()
}

// want reads a token of kind s and returns its text.
func (p *parser) want(s symbol) string {
	if p.token.symbol != s {
		p.fail(p.token, "found %v, want %v", p.token, s)
		return ""
	}
	return p.advance().text
}

func (p *parser) keyword(text string) {
	if p.token.symbol != word || p.token.text != text {
		p.fail(p.token, "found %v, want %q", p.token, text)
		return
	}
	p.advance()
}

// take reads the next token if it is of kind s.
func (p *parser) take(s symbol) bool {
	if p.token.symbol != s {
		return false
	}
	p.advance()
	return true
}

func (p *parser) skipLines() {
	for p.take(newline) {
	}
}

func (p *parser) endLine() {
	if p.token.symbol != endOfFile {
		p.want(newline)
	}
}

// declaration reads: state NAME DTYPE[SHAPE] ROLE [RULE [(ARGUMENTS)]]
func (p *parser) declaration() {
	p.advance()
	s := State{Name: p.want(word)}
	s.DType, s.Shape = p.shape()
	s.Role = Role(p.want(word))
	if p.token.symbol == word {
		s.Init.Rule = p.advance().text
	}
	if p.take('(') {
		s.Init.Args = list(p, ')', p.float)
	}
	p.endLine()
	if p.state = append(p.state, s); len(p.state) > maxStates {
		p.fail(p.token, "more than %d state tensors", maxStates)
	}
}

// shape reads a data type and a shape: f32[16,3,3,3].
func (p *parser) shape() (tensor.DType, []int) {
	at := p.token
	d, err := tensor.ParseDType(p.want(word))
	if err != nil {
		p.fail(at, "%v", err)
	}
	p.want('[')
	var shape []int
	for _, n := range list(p, ']', p.int) {
		shape = append(shape, int(n))
	}
	return d, shape
}

// list reads the elements of a list up to its end.
func list[T any](p *parser, end symbol, element func() T) []T {
	var l []T
	for p.token.symbol != end && p.err == nil {
		if len(l) > 0 {
			p.want(',')
		}
		if l = append(l, element()); len(l) > maxOperands {
			p.fail(p.token, "more than %d elements", maxOperands)
		}
	}
	p.want(end)
	return l
}

func (p *parser) int() int64 {
	at := p.token
	n, err := strconv.ParseInt(p.want(word), 10, 64)
	if err != nil {
		p.fail(at, "found %v, want an integer", at)
	}
	return n
}

func (p *parser) float() float64 {
	at := p.token
	x, err := strconv.ParseFloat(p.want(word), 64)
	if err != nil || math.IsNaN(x) {
		p.fail(at, "found %v, want a number", at)
	}
	return x
}

func (p *parser) bool() bool {
	at := p.token
	s := p.want(word)
	if s != "true" && s != "false" {
		p.fail(at, "found %v, want true or false", at)
	}
	return strings.HasPrefix(s, "t")
}
