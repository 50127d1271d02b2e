package job

import (
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// start makes the model that the options name. The size of pictures that they
// leave open is that of the checkpoint in a resumed run, whatever rule chose it.
func (j *Job) start(seed uint64) (*modelfile.Started, error) {
	o := j.o.Start
	o.Seed, o.Auxiliary = seed, j.Recipe.AuxWeight > 0
	if j.o.Resume == nil || o.Size != (models.Size{}) || len(o.Input) > 0 {
		return modelfile.Start(j.o.Model, j.Data.Info(), o)
	}
	was, err := serialize.Unwrap(j.o.Resume)
	if err != nil {
		return nil, err
	}
	o.Size, _ = was.Size()
	m, err := modelfile.Start(j.o.Model, j.Data.Info(), o)
	if err != nil { // it is another model, as its own size will show
		o.Size = models.Size{}
		return modelfile.Start(j.o.Model, j.Data.Info(), o)
	}
	return m, nil
}

// sameSize refuses another size for a run that goes on with the model of its
// checkpoint.
func (j *Job) sameSize() error {
	want := j.o.Start.Size
	if want == (models.Size{}) || j.o.Model != "" {
		return nil
	}
	m, err := serialize.Unwrap(j.o.Resume)
	if err != nil {
		return err
	}
	is, ok := m.Size()
	if is.Height == want.Height && is.Width == want.Width {
		return nil
	}
	takes := "no pictures"
	if ok {
		takes = is.Sides()
	}
	return problem.New("size", want.Sides(), "the model of the checkpoint takes "+takes,
		"leave it off to go on with that")
}
