package keras

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/problem"
)

// readArchive reads a .keras archive.
func readArchive(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	z, err := foreign.OpenZip(src, size)
	if err != nil {
		return nil, err
	}
	c := &content{file: &foreign.File{Format: "keras archive"}, size: size, backend: "tensorflow",
		tensorsOnly: o.TensorsOnly, givenShape: o.Input}
	if e, ok := z.Entry(memberMeta); ok {
		if err := c.metadata(z, e); err != nil {
			return nil, err
		}
	}
	e, ok := z.Entry(memberConfig)
	if !ok {
		return nil, fmt.Errorf("a zip archive without %s is not one of Keras", memberConfig)
	}
	if c.config, err = z.ReadAll(e, maxConfig); err != nil {
		return nil, err
	}
	if e, ok = z.Entry(memberWeights); !ok {
		return nil, withoutWeights(z)
	}
	if err := z.Verify(e); err != nil {
		return nil, err
	}
	h, err := hdf5.Open(z.Open(e), e.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", memberWeights, err)
	}
	c.root = h.Root()
	return c.archivedWeights()
}

// withoutWeights rejects an archive without the member of weights and names the other form
// in which it stores them.
func withoutWeights(z *foreign.Zip) error {
	for _, e := range z.Entries {
		if strings.HasPrefix(e.Name, "model.weights") {
			return problem.Advise("save the model again as .keras with one file of weights",
				"the archive has no %s; weights in %q are not supported", memberWeights, e.Name)
		}
	}
	return fmt.Errorf("the archive has no %s", memberWeights)
}

// metadata reads the version of Keras from the archive's metadata.
func (c *content) metadata(z *foreign.Zip, e foreign.Entry) error {
	b, err := z.ReadAll(e, maxConfig)
	if err != nil {
		return err
	}
	var meta struct {
		Version string `json:"keras_version"`
	}
	if err := decode(b, &meta); err != nil {
		return fmt.Errorf("%s: %w", memberMeta, err)
	}
	c.version = meta.Version
	return nil
}

// archivedWeights reads the weights of an archive, or of a .weights.h5 file, which stores
// them in the same way.
func (c *content) archivedWeights() (*foreign.File, error) {
	root, err := nodesOf(c.root)
	if err != nil {
		return nil, err
	}
	if err := c.varsBelow(root, 0); err != nil {
		return nil, err
	}
	c.leaveOptimizer()
	f, err := c.finish(func(n *network) (weights, error) {
		w := weights{}
		return w, n.eachNode(root, w.archived)
	})
	if err != nil || f.Model != nil || c.config == nil {
		return f, err
	}
	if n, err := parseModel(c.config); err == nil {
		if norms, err := archivedNorms(n, root); err == nil && c.listed(norms) {
			f.Norms = norms
		}
	}
	return f, nil
}

// listed reports whether the file has the tensors of all norms.
func (c *content) listed(norms []foreign.BatchNorm) bool {
	have := map[string]bool{"": true}
	for _, t := range c.file.Tensors {
		have[t.Name] = true
	}
	for _, n := range norms {
		if !have[n.Mean] || !have[n.Variance] || !have[n.Gamma] || !have[n.Beta] {
			return false
		}
	}
	return true
}

// varsBelow collects the weights of all layers, for the list of tensors:
// every group "vars" below the container of layers.
func (c *content) varsBelow(o *node, depth int) error {
	if depth > 2*maxNesting {
		return fmt.Errorf("%s: groups are nested more than %d deep", o, depth-1)
	}
	names, err := o.members()
	if err != nil {
		return err
	}
	g := group{name: o.path}
	for _, name := range names {
		child, err := o.open(name)
		if err != nil {
			return err
		}
		switch {
		case o.path == "" && (strings.HasPrefix(name, "optimizer") || name == "vars"):
		case name == "seed_generator": // the state of a dropout's random numbers
		case child.isGroup():
			err = c.varsBelow(child, depth+1)
		case child.isData():
			var v hdf5.Value
			v, err = child.o.Value()
			g.arrays = append(g.arrays, arrayOf(name, v))
		}
		if err != nil {
			return err
		}
	}
	if len(g.arrays) > 0 {
		c.groups = append(c.groups, g)
	}
	return nil
}
