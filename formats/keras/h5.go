package keras

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/problem"
)

// content is an open file of Keras.
type content struct {
	file        *foreign.File
	size        int64
	version     string // version of Keras, "2.2.4"; may be empty
	backend     string // "tensorflow", "theano"; may be empty
	config      []byte // the model's description; nil in a file of weights alone
	described   bool   // config is not from the file
	tensorsOnly bool   // the model is not needed
	givenShape  []int  // the input's shape, for lengths that the file leaves open
	root        *hdf5.Object
	groups      []group
}

// readH5 reads an HDF5 file.
func readH5(src io.ReaderAt, size int64, options Options) (*foreign.File, error) {
	h, err := hdf5.Open(src, size)
	if err != nil {
		return nil, err
	}
	c := &content{file: &foreign.File{Format: "keras h5"}, size: size, root: h.Root(),
		tensorsOnly: options.TensorsOnly, givenShape: options.Input}
	if err := c.attributes(); err != nil {
		return nil, err
	}
	if d := options.Description; d != nil {
		if c.config != nil {
			return nil, errDescribed
		}
		c.config, c.described = d, true
	}
	o := c.root
	if o.Has("model_weights") {
		if o, err = o.Open("model_weights"); err != nil {
			return nil, err
		}
		if err := c.attributesOf(o); err != nil { // Keras 1 and 2 write them here too
			return nil, err
		}
	}
	if likeArchive(o) {
		return c.archivedWeights()
	}
	if err := isKeras(o); err != nil {
		return nil, err
	}
	if c.groups, err = readGroups(o); err != nil {
		return nil, err
	}
	c.leaveOptimizer()
	return c.finish(c.matchGroups)
}

// likeArchive reports whether o stores the weights of layers in the structure of an archive.
func likeArchive(o *hdf5.Object) bool {
	names, err := o.Members()
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		first, _, _ := strings.Cut(name, `\`)
		return first == containerNow || first == containerOld
	})
}

// isKeras rejects an HDF5 file without a list of layers: another program wrote it, or Keras
// wrote it for something else than weights.
func isKeras(o *hdf5.Object) error {
	for _, name := range []string{"layer_names", "layer_names0"} { // long lists are cut into parts
		if _, ok, err := o.Attribute(name); ok || err != nil {
			return err
		}
	}
	has := "nothing"
	if names, err := o.Members(); err == nil && len(names) > 0 {
		has = fmt.Sprintf("%q", names[:min(len(names), 4)])
		if len(names) > 4 {
			has += fmt.Sprintf(" and %d more", len(names)-4)
		}
	}
	return problem.Advise("if its arrays are a model's weights, save them as .safetensors from the program "+
		"that wrote them",
		"an HDF5 file that is not one of Keras: %s holds %s and no list layer_names", o.Path(), has)
}

// attributes reads the root's attributes.
func (c *content) attributes() error {
	if err := c.attributesOf(c.root); err != nil {
		return err
	}
	v, ok, err := c.root.Attribute("model_config")
	if err != nil || !ok {
		return err
	}
	config, err := v.Text()
	c.config = []byte(config)
	return err
}

func (c *content) attributesOf(o *hdf5.Object) error {
	for _, a := range []struct {
		name string
		to   *string
	}{{"keras_version", &c.version}, {"backend", &c.backend}} {
		v, ok, err := o.Attribute(a.name)
		if err != nil {
			return err
		}
		if ok && *a.to == "" {
			if *a.to, err = v.Text(); err != nil {
				return err
			}
		}
	}
	return nil
}
