package keras

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/modelfile/formats/keras/internal/hdf5"
)

// place is a group or a data set of an archive. Keras 2.12 to 2.15 joined paths as the
// system does: on Windows all groups lie side by side, and "layers\conv2d" is the name
// of one. Places are a tree all the same.
type place struct {
	path  string
	from  *hdf5.Object // has the object by its whole name; nil: the place is o
	whole string
	o     *hdf5.Object // nil where only longer names lead through the place
	names []string     // of below, in the file's order
	below map[string]*place
}

// placesOf returns the root of the tree below o.
func placesOf(o *hdf5.Object) (*place, error) {
	root := &place{o: o}
	names, err := o.Members()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		parts := strings.Split(name, `\`)
		if len(parts) == 1 {
			continue
		}
		if len(parts) > 2*maxNesting {
			return nil, fmt.Errorf("%s: the name %.80q has %d parts; at most %d are supported", o.Path(), name,
				len(parts), 2*maxNesting)
		}
		at := root
		for _, part := range parts {
			at = at.through(part)
		}
		at.from, at.whole = o, name
	}
	return root, nil
}

// through returns the place below p of that name, which names lead through.
func (p *place) through(name string) *place {
	if p.below[name] == nil {
		if p.below == nil {
			p.below = map[string]*place{}
		}
		p.below[name] = &place{path: join(p.path, name)}
		p.names = append(p.names, name)
	}
	return p.below[name]
}

func join(path, name string) string { return strings.TrimPrefix(path+"/"+name, "/") }

// has reports whether there is a place of that name in p.
func (p *place) has(name string) bool {
	return p.below[name] != nil || p.o != nil && p.o.Has(name)
}

// open returns the place of that name in p.
func (p *place) open(name string) (*place, error) {
	child := p.below[name]
	if child == nil {
		if p.o == nil {
			return nil, fmt.Errorf("%s has no member %.80q", p, name)
		}
		o, err := p.o.Open(name)
		return &place{path: join(p.path, name), o: o}, err
	}
	if child.o == nil && p.o != nil && p.o.Has(name) {
		child.from, child.whole = p.o, name
	}
	if child.from != nil && child.o == nil {
		o, err := child.from.Open(child.whole)
		if err != nil {
			return nil, err
		}
		child.o = o
	}
	return child, nil
}

// members returns the names in p.
func (p *place) members() ([]string, error) {
	names := slices.Clone(p.names)
	if p.o == nil || !p.o.IsGroup() {
		return names, nil
	}
	own, err := p.o.Members()
	for _, name := range own {
		if p.below[name] == nil && !strings.Contains(name, `\`) {
			names = append(names, name)
		}
	}
	return names, err
}

// String is the path for messages.
func (p *place) String() string { return "/" + p.path }

func (p *place) isGroup() bool { return p.o == nil || p.o.IsGroup() }

func (p *place) isData() bool { return p.o != nil && p.o.IsData() }
