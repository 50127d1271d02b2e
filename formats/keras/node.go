package keras

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
)

// node is a group or a data set of an archive. Keras 2.12 to 2.15 joined paths with the
// system's separator: on Windows all groups are members of the root, with names like
// "layers\conv2d". Nodes form a tree in any case.
type node struct {
	path     string
	parent   *hdf5.Object // contains the object under its whole name; nil: the node is o
	name     string
	o        *hdf5.Object // nil if the node is only part of longer names
	names    []string     // names of the children, in the file's order
	children map[string]*node
}

// nodesOf returns the root of the tree below o.
func nodesOf(o *hdf5.Object) (*node, error) {
	root := &node{o: o}
	names, err := o.Members()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		components := strings.Split(name, `\`)
		if len(components) == 1 {
			continue
		}
		if len(components) > 2*maxNesting {
			return nil, fmt.Errorf("%s: the name %.80q has %d parts; at most %d are supported", o.Path(), name,
				len(components), 2*maxNesting)
		}
		at := root
		for _, component := range components {
			at = at.descend(component)
		}
		at.parent, at.name = o, name
	}
	return root, nil
}

// descend returns the child of p with that name, and creates it if necessary.
func (p *node) descend(name string) *node {
	if p.children[name] == nil {
		if p.children == nil {
			p.children = map[string]*node{}
		}
		p.children[name] = &node{path: join(p.path, name)}
		p.names = append(p.names, name)
	}
	return p.children[name]
}

func join(path, name string) string { return strings.TrimPrefix(path+"/"+name, "/") }

// has reports whether there is a node of that name in p.
func (p *node) has(name string) bool {
	return p.children[name] != nil || p.o != nil && p.o.Has(name)
}

// open returns the node of that name in p.
func (p *node) open(name string) (*node, error) {
	child := p.children[name]
	if child == nil {
		if p.o == nil {
			return nil, fmt.Errorf("%s has no member %.80q", p, name)
		}
		o, err := p.o.Open(name)
		return &node{path: join(p.path, name), o: o}, err
	}
	if child.o == nil && p.o != nil && p.o.Has(name) {
		child.parent, child.name = p.o, name
	}
	if child.parent != nil && child.o == nil {
		o, err := child.parent.Open(child.name)
		if err != nil {
			return nil, err
		}
		child.o = o
	}
	return child, nil
}

// members returns the names in p.
func (p *node) members() ([]string, error) {
	names := slices.Clone(p.names)
	if p.o == nil || !p.o.IsGroup() {
		return names, nil
	}
	members, err := p.o.Members()
	for _, name := range members {
		if p.children[name] == nil && !strings.Contains(name, `\`) {
			names = append(names, name)
		}
	}
	return names, err
}

// String returns the path for messages.
func (p *node) String() string { return "/" + p.path }

func (p *node) isGroup() bool { return p.o == nil || p.o.IsGroup() }

func (p *node) isData() bool { return p.o != nil && p.o.IsData() }
