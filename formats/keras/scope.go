package keras

import (
	"fmt"
	"slices"
)

// scope is one call of a network: the whole model, or a nested one.
type scope struct {
	*build
	net     *network
	path    string // names of the models around it, each with a slash
	results map[callSite][]flow
	busy    map[callSite]bool // calls with operands under construction
}

// callSite is one call of a layer in a scope.
type callSite struct {
	layer string
	call  int
}

func newScope(b *build, n *network, path string) *scope {
	return &scope{build: b, net: n, path: path, results: map[callSite][]flow{}, busy: map[callSite]bool{}}
}

// eval returns the tensor that r refers to, and builds the layers that it depends on.
func (s *scope) eval(r tensorRef) (flow, error) {
	at := callSite{r.layer, r.call}
	if s.results[at] == nil {
		if s.busy[at] {
			return flow{}, fmt.Errorf("layer %.80q takes its own result", r.layer)
		}
		s.busy[at] = true
		out, err := s.call(at)
		if err != nil {
			return flow{}, err
		}
		s.results[at] = out
	}
	if r.tensor >= len(s.results[at]) {
		return flow{}, fmt.Errorf("layer %.80q has no result %d", r.layer, r.tensor)
	}
	return s.results[at][r.tensor], nil
}

// call builds one call of a layer.
func (s *scope) call(site callSite) ([]flow, error) {
	if s.calls++; s.calls > maxCalls {
		return nil, fmt.Errorf("the model makes more than %d calls of layers", maxCalls)
	}
	l := s.net.find(site.layer)
	if l == nil {
		return nil, fmt.Errorf("model %s has no layer %.80q", s.net.name, site.layer)
	}
	if l.class == "InputLayer" {
		f, err := s.input(l)
		return []flow{f}, err
	}
	if site.call < 0 || site.call >= len(l.calls) {
		return nil, fmt.Errorf("layer %.80q is called %d times, call %d is referred to", l.name,
			len(l.calls), site.call)
	}
	var in []flow
	for _, r := range l.calls[site.call] {
		f, err := s.eval(r)
		if err != nil {
			return nil, err
		}
		in = append(in, f)
	}
	if l.net == nil {
		return s.leaf(l, in, l.keysOf(site.call))
	}
	in, err := l.net.arranged(in, l.keysOf(site.call))
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", l.name, err)
	}
	return s.buildNested(l, in)
}

// keysOf returns the paths of a call's operands in a dict; nil without a dict.
func (l *layer) keysOf(call int) []string {
	if call >= len(l.keys) {
		return nil
	}
	return l.keys[call]
}

// arranged returns the operands of a call in the order of the inputs of n. Operands in a
// dict have the keys of its inputs or, if the inputs are not in a dict, their names.
func (n *network) arranged(in []flow, keys []string) ([]flow, error) {
	if keys == nil || len(in) != len(n.inputs) { // the number is checked later
		return in, nil
	}
	names := n.inKeys
	if names == nil {
		for _, r := range n.inputs {
			names = append(names, r.layer)
		}
	}
	out := make([]flow, len(in))
	for i, name := range names {
		at := slices.Index(keys, name)
		if at < 0 {
			return nil, fmt.Errorf("is called with the inputs %.200q, want %.200q", keys, names)
		}
		out[i] = in[at]
	}
	return out, nil
}

// buildNested builds a call of a nested model.
func (s *scope) buildNested(l *layer, in []flow) ([]flow, error) {
	inner := newScope(s.build, l.net, s.path+l.name+"/")
	if len(in) != len(l.net.inputs) {
		return nil, fmt.Errorf("model %s has %d inputs and is called with %d", l.name, len(l.net.inputs), len(in))
	}
	for i, r := range l.net.inputs {
		inner.results[callSite{r.layer, r.call}] = []flow{in[i]}
	}
	var out []flow
	for _, r := range l.net.outputs {
		f, err := inner.eval(r)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", l.name, err)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("model %s has no result", l.name)
	}
	return out, nil
}

// leaf builds a call of a layer that is not a model.
func (s *scope) leaf(l *layer, in []flow, keys []string) ([]flow, error) {
	label := s.label(s.path+l.name, l)
	c := &call{build: s.build, l: l, in: in, name: label, fields: &fields{m: l.fields.m}}
	if len(in) == 0 {
		return nil, fmt.Errorf("layer %.80q (%s) is called with nothing", l.name, l.fileClass)
	}
	if keys != nil {
		return nil, fmt.Errorf("layer %.80q (%s) is called with a dict, which is not supported", l.name,
			l.fileClass)
	}
	if l.operation && len(in) > 1 && len(in[0].shape) != len(in[1].shape) {
		c.fail("joins tensors of shapes %v and %v as an operation", in[0].shape, in[1].shape)
	}
	f := c.buildLayer()
	for _, err := range []error{c.fields.err, c.err, s.g.Err()} {
		if err != nil {
			return nil, fmt.Errorf("layer %.80q (%s): %w", l.name, l.fileClass, err)
		}
	}
	return []flow{f}, nil
}
