package decode

import (
	"fmt"
	"maps"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// A file may define operators by local functions. The nodes of a function replace the node that calls
// it, with unique names.

// inliner replaces calls by the nodes of the called functions.
type inliner struct {
	functions map[string]*onnxpb.FunctionProto
	opset     int
	nodes     int // nodes so far, in all graphs
	calls     int
}

// Inline replaces all calls of local functions in a model.
func Inline(m *onnxpb.ModelProto, opset int) error {
	if len(m.Functions) == 0 {
		return nil
	}
	l := inliner{functions: map[string]*onnxpb.FunctionProto{}, opset: opset}
	for _, f := range m.Functions {
		l.functions[functionKey(f.Domain, f.Name, f.Overload)] = f
	}
	var err error
	m.Graph.Node, err = l.inlineNodes(m.Graph.Node, 0)
	return err
}

func functionKey(domain, name, overload string) string {
	if domain == "ai.onnx" {
		domain = ""
	}
	return domain + ":" + name + ":" + overload
}

// inlineNodes replaces the calls among nodes, and in their branches.
func (l *inliner) inlineNodes(nodes []*onnxpb.NodeProto, depth int) (out []*onnxpb.NodeProto, err error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("local functions and branches lie more than %d deep in each other", maxDepth)
	}
	for _, n := range nodes {
		if l.nodes++; l.nodes > MaxNodes {
			return nil, fmt.Errorf("more than %d nodes with those of local functions", MaxNodes)
		}
		f := l.functions[functionKey(n.Domain, n.OpType, n.Overload)]
		if f == nil {
			for _, a := range n.Attribute {
				if a.G == nil {
					continue
				}
				if a.G.Node, err = l.inlineNodes(a.G.Node, depth+1); err != nil {
					return nil, err
				}
			}
			out = append(out, n)
			continue
		}
		body, err := l.expand(f, n)
		if err != nil {
			return nil, fmt.Errorf("local function %.80q: %w", f.Name, err)
		}
		if body, err = l.inlineNodes(body, depth+1); err != nil {
			return nil, err
		}
		out = append(out, body...)
	}
	return out, nil
}

// expand returns the nodes of f with the operands and attributes of the call n.
func (l *inliner) expand(f *onnxpb.FunctionProto, n *onnxpb.NodeProto) ([]*onnxpb.NodeProto, error) {
	for _, o := range f.OpsetImport {
		if (o.Domain == "" || o.Domain == "ai.onnx") && o.Version != int64(l.opset) {
			return nil, fmt.Errorf("of operator set %d in a model of %d is not supported", o.Version, l.opset)
		}
	}
	if len(n.Input) > len(f.Input) || len(n.Output) > len(f.Output) {
		return nil, fmt.Errorf("is called with %d operands for %d results; it has %d and %d", len(n.Input),
			len(n.Output), len(f.Input), len(f.Output))
	}
	l.calls++
	c := FunctionCall{attributes: map[string]*onnxpb.AttributeProto{}, Names: map[string]string{"": ""},
		Prefix: fmt.Sprintf("%s.%d.", f.Name, l.calls)}
	for _, a := range f.AttributeProto {
		c.attributes[a.Name] = a
	}
	for _, a := range n.Attribute {
		c.attributes[a.Name] = a
	}
	for i, name := range f.Input {
		c.Names[name] = ""
		if i < len(n.Input) {
			c.Names[name] = n.Input[i]
		}
	}
	for i, name := range f.Output {
		if _, passed := c.Names[name]; passed {
			return nil, fmt.Errorf("passes %.80q on as a result, which is not supported", name)
		}
		if i < len(n.Output) && n.Output[i] != "" {
			c.Names[name] = n.Output[i]
		}
	}
	if l.nodes+len(f.Node) > MaxNodes {
		return nil, fmt.Errorf("more than %d nodes with those of local functions", MaxNodes)
	}
	return c.Copies(f.Node), nil
}

// FunctionCall is one call of a function.
type FunctionCall struct {
	attributes map[string]*onnxpb.AttributeProto // attributes of the call, and defaults
	Names      map[string]string                 // names outside of the function, by the names inside
	Prefix     string                            // prefix of all other names
}

// Name returns the name outside of the function for an inner name.
func (c *FunctionCall) Name(inner string) string {
	outside, ok := c.Names[inner]
	if !ok {
		outside = c.Prefix + inner
		c.Names[inner] = outside
	}
	return outside
}

// Copies returns nodes with the names and the attributes of the call.
func (c *FunctionCall) Copies(nodes []*onnxpb.NodeProto) []*onnxpb.NodeProto {
	var out []*onnxpb.NodeProto
	for _, from := range nodes {
		n := &onnxpb.NodeProto{OpType: from.OpType, Domain: from.Domain, Overload: from.Overload, Name: from.Name}
		for _, name := range from.Input {
			n.Input = append(n.Input, c.Name(name))
		}
		for _, name := range from.Output {
			n.Output = append(n.Output, c.Name(name))
		}
		for _, a := range from.Attribute {
			if a = c.attribute(a); a != nil {
				n.Attribute = append(n.Attribute, a)
			}
		}
		out = append(out, n)
	}
	return out
}

// attribute returns an attribute of a node in the function. It returns nil if the attribute refers to
// one that the call does not have.
func (c *FunctionCall) attribute(a *onnxpb.AttributeProto) *onnxpb.AttributeProto {
	if a.RefAttrName != "" {
		given := c.attributes[a.RefAttrName]
		if given == nil {
			return nil
		}
		given = proto.Clone(given).(*onnxpb.AttributeProto)
		given.Name = a.Name
		return given
	}
	a = proto.Clone(a).(*onnxpb.AttributeProto)
	if a.G != nil {
		inner := FunctionCall{c.attributes, maps.Clone(c.Names), c.Prefix}
		for _, in := range a.G.Input { // names in the body of a loop
			in.Name = inner.Name(in.Name)
		}
		a.G.Node = inner.Copies(a.G.Node)
		for _, t := range a.G.Initializer {
			t.Name = inner.Name(t.Name)
		}
		for _, o := range a.G.Output {
			o.Name = inner.Name(o.Name)
		}
	}
	return a
}
