package keras

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/tensor"
)

// array is a weight as stored in the file.
type array struct {
	name  string
	value value
	typ   hdf5.Type
	shape []int
}

// value reads the elements of an array.
type value interface {
	Size() int // bytes
	ReadInto(dst []byte) error
}

// arrayOf returns the value of a data set as a named array.
func arrayOf(name string, v hdf5.Value) array { return array{name, v, v.Type, v.Shape} }

// group holds the weights of a layer, or of all layers of a nested model. The file stores them
// under one name.
type group struct {
	name   string
	arrays []array
}

// readGroups reads the groups below o, which is model_weights or the root of a file of
// weights. It returns them in the order of the attribute layer_names, because the file
// itself stores them in alphabetical order.
func readGroups(o *hdf5.Object) ([]group, error) {
	names, err := nameList(o, "layer_names")
	if err != nil {
		return nil, err
	}
	groups := make([]group, 0, len(names))
	for _, name := range names {
		g, err := readGroup(o, name)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func readGroup(o *hdf5.Object, name string) (group, error) {
	g := group{name: name}
	child, err := o.Open(name)
	if err != nil {
		return g, err
	}
	names, err := nameList(child, "weight_names")
	if err != nil {
		return g, err
	}
	for _, name := range names {
		data, err := child.Open(name)
		if err != nil {
			return g, err
		}
		v, err := data.Value()
		if err != nil {
			return g, err
		}
		g.arrays = append(g.arrays, arrayOf(name, v))
	}
	return g, nil
}

// nameList reads an attribute that lists names. Keras splits a list that is too long for
// one attribute into NAME0, NAME1 and so on.
func nameList(o *hdf5.Object, attr string) ([]string, error) {
	v, ok, err := o.Attribute(attr)
	if err != nil {
		return nil, err
	}
	if ok {
		return v.Strings()
	}
	var all []string
	for i := 0; ; i++ {
		v, ok, err := o.Attribute(fmt.Sprintf("%s%d", attr, i))
		if err != nil {
			return nil, err
		}
		if !ok && i == 0 {
			return nil, fmt.Errorf("%s has no attribute %s", o.Path(), attr)
		}
		if !ok {
			return all, nil
		}
		chunk, err := v.Strings()
		if err != nil {
			return nil, err
		}
		all = append(all, chunk...)
	}
}

// path returns the full name of a weight of g: prefixed with the group's name, unless it
// has this prefix already, as most weights do.
func (g *group) path(a array) string {
	if strings.HasPrefix(a.name, g.name+"/") {
		return a.name
	}
	return g.name + "/" + a.name
}

// dtypes gives the type of a tensor by class, sign and size in HDF5.
var dtypes = map[hdf5.Type]tensor.DType{
	{Class: hdf5.Float, Size: 2, Signed: true}:   tensor.F16,
	{Class: hdf5.Float, Size: 4, Signed: true}:   tensor.F32,
	{Class: hdf5.Float, Size: 8, Signed: true}:   tensor.F64,
	{Class: hdf5.Integer, Size: 1, Signed: true}: tensor.I8,
	{Class: hdf5.Integer, Size: 2, Signed: true}: tensor.I16,
	{Class: hdf5.Integer, Size: 4, Signed: true}: tensor.I32,
	{Class: hdf5.Integer, Size: 8, Signed: true}: tensor.I64,
	{Class: hdf5.Integer, Size: 1}:               tensor.U8,
	{Class: hdf5.Integer, Size: 2}:               tensor.U16,
	{Class: hdf5.Integer, Size: 4}:               tensor.U32,
	{Class: hdf5.Integer, Size: 8}:               tensor.U64,
}

func (a array) dtype() (tensor.DType, error) {
	d, ok := dtypes[a.typ]
	if !ok {
		return 0, fmt.Errorf("%s holds %v, want numbers", a.name, a.typ)
	}
	return d, nil
}

// load returns a copy of the weight as f32.
func (a array) load() (tensor.Tensor, error) {
	d, err := a.dtype()
	if err != nil {
		return tensor.Tensor{}, err
	}
	t := tensor.New(d, a.shape...)
	if err := a.value.ReadInto(t.Bytes); err != nil {
		return t, err
	}
	return t.ToF32()
}
