package serialize

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Checkpoint is a parallel model in training. It has everything that a run needs to
// continue on any devices, with the result of a run without interruption.
type Checkpoint struct {
	Architecture string
	Graph        *graph.Graph // wrapped: with replica connections
	Preprocess   models.Preprocess
	Labels       []string
	FileTypes    []models.FileType   // see models.Model.FileTypes
	FileTensors  []models.FileTensor // see models.Model.FileTensors
	Recipe       json.RawMessage
	Float        json.RawMessage // see models.Model.Float
	Progress     json.RawMessage // position in the data, sums of the epoch, figures; defined by package train

	// State holds what Graph.State and Training declare, and nothing else.
	State    map[string]tensor.Tensor
	Training []graph.State // optimizer tensors and averages, which only training needs

	Sets        []Set             // sorted by name
	Best        *models.BestEpoch // epoch of the set SetBest; nil without, and in files of older releases
	Attachments map[string][]byte // other data of the run: moments not yet merged
}

// Set is a named group of tensors in addition to the state, for example the running statistics of
// one replica, or the best weights so far.
type Set struct {
	Name    string
	Updates []int64 // number of updates of each batch norm; nil for other sets
	Tensors map[string]tensor.Tensor
}

// Set returns the set with that name, or nil.
func (c *Checkpoint) Set(name string) *Set {
	for i := range c.Sets {
		if c.Sets[i].Name == name {
			return &c.Sets[i]
		}
	}
	return nil
}

// Check returns nil if the graph is valid and the state complete.
func (c *Checkpoint) Check() error {
	table := slices.Concat(c.Graph.State, c.Training)
	m := models.Model{Architecture: c.Architecture, State: c.State,
		Graph: &graph.Graph{Name: c.Graph.Name, State: table, Main: c.Graph.Main}}
	if err := m.Check(); err != nil {
		return err
	}
	for _, s := range c.Training {
		if s.Role != graph.Optimizer && s.Role != graph.Average {
			return fmt.Errorf("checkpoint: training tensor %s has the role %s, want optimizer or average",
				s.Name, s.Role)
		}
	}
	for i, s := range c.Sets {
		if s.Name == "" || i > 0 && s.Name <= c.Sets[i-1].Name {
			return fmt.Errorf("checkpoint: set %q: sets have names and are sorted by them", s.Name)
		}
		if len(s.Tensors) == 0 {
			return fmt.Errorf("checkpoint: set %s is empty", s.Name)
		}
	}
	for _, t := range c.FileTypes {
		if err := t.Check(); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	if err := checkFileTensors(c.FileTensors); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if c.Best != nil {
		return c.Best.Check()
	}
	return nil
}

// WriteCheckpoint writes a checkpoint to a file with a name that ends in .bnc. After an error an
// older file is unchanged: see WriteSummed.
func WriteCheckpoint(path string, c *Checkpoint) error {
	if err := CheckName(path, Training); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	h := &header{Architecture: c.Architecture, Graph: string(c.Graph.Text()), Preprocess: c.Preprocess,
		Labels: listOf(c.Labels), Recipe: string(c.Recipe), Best: c.Best,
		Training: &training{Progress: string(c.Progress)}, Types: outputTypes(c.FileTypes),
		FileTensors: fileTensors(c.FileTensors), Float: string(c.Float)}
	tensors := declaredTensors(slices.Concat(c.Graph.State, c.Training), c.State)
	for _, s := range c.Training {
		h.Training.State = append(h.Training.State, declared{s.Name, string(s.Role)})
	}
	for _, s := range c.Sets {
		h.Training.Sets = append(h.Training.Sets, setHeader{s.Name, listOf(s.Updates)})
		for _, name := range slices.Sorted(maps.Keys(s.Tensors)) {
			tensors = append(tensors, named{s.Name, name, s.Tensors[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Attachments)) {
		h.Training.Attachments = append(h.Training.Attachments, attachment{name, c.Attachments[name]})
	}
	write, err := container(Training, h, tensors)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = WriteSummed(path, write)
	return err
}

// ReadCheckpoint returns the checkpoint in a file. The caller may change its tensors.
func ReadCheckpoint(path string) (*Checkpoint, error) { return ownCheckpoint(Open(path)) }

// ParseCheckpoint does the same as ReadCheckpoint for a file that is in memory. Errors
// refer to the file by name.
func ParseCheckpoint(name string, b []byte) (*Checkpoint, error) {
	return ownCheckpoint(parse(name, b))
}

// ownCheckpoint copies the checkpoint out of a file, and closes it.
func ownCheckpoint(f *File, err error) (*Checkpoint, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := f.Checkpoint()
	if err != nil {
		return nil, err
	}
	err = f.copied(func() {
		c.State = cloned(c.State)
		for i := range c.Sets {
			c.Sets[i].Tensors = cloned(c.Sets[i].Tensors)
		}
	})
	return c, err
}

func cloned(tensors map[string]tensor.Tensor) map[string]tensor.Tensor {
	out := make(map[string]tensor.Tensor, len(tensors))
	for name, t := range tensors {
		out[name] = t.Clone()
	}
	return out
}

// checkpoint builds a checkpoint from a verified file.
func (h *header) checkpoint(tensors []named) (*Checkpoint, error) {
	g, err := graph.ParseGraph([]byte(h.Graph))
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	c := &Checkpoint{Architecture: h.Architecture, Graph: g, Preprocess: h.Preprocess, Labels: h.Labels,
		Best: h.Best}
	if c.Recipe, err = toJSON(h.Recipe, "recipe"); err != nil {
		return nil, err
	}
	if c.Float, err = toJSON(h.Float, "float"); err != nil {
		return nil, err
	}
	if c.FileTypes, err = h.fileTypes(); err != nil {
		return nil, err
	}
	if c.FileTensors, err = h.fileTensors(); err != nil {
		return nil, err
	}
	if c.Progress, err = toJSON(h.Training.Progress, "progress"); err != nil {
		return nil, err
	}
	if err := h.Training.restore(c, tensors); err != nil {
		return nil, err
	}
	return c, c.Check()
}

// restore sets the fields of c that templates do not have.
func (t *training) restore(c *Checkpoint, tensors []named) error {
	sets, err := bySet(tensors)
	if err != nil {
		return err
	}
	c.State = sets[""]
	delete(sets, "")
	for _, d := range t.State {
		v, ok := c.State[d.Name]
		if !ok {
			return fmt.Errorf("tensor %s is missing", d.Name)
		}
		c.Training = append(c.Training,
			graph.State{Name: d.Name, DType: v.DType, Shape: v.Shape, Role: graph.Role(d.Role)})
	}
	for _, s := range t.Sets {
		c.Sets = append(c.Sets, Set{s.Name, s.Updates, sets[s.Name]})
		delete(sets, s.Name)
	}
	if len(sets) > 0 {
		return fmt.Errorf("tensors of %d sets that the header does not list", len(sets))
	}
	for _, a := range t.Attachments {
		if c.Attachments == nil {
			c.Attachments = map[string][]byte{}
		}
		c.Attachments[a.Name] = a.Data
	}
	return nil
}
