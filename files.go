package bnctl

import (
	"cmp"
	"context"
	"io"
	"os"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/train"
)

// checkExtensions returns an error unless output has the extension of a template and
// checkpoint the extension of a checkpoint. Either may be "".
func checkExtensions(output, checkpoint string) error {
	if output != "" {
		if err := serialize.CheckName(output, serialize.Template); err != nil {
			return err
		}
	}
	if checkpoint != "" {
		return serialize.CheckName(checkpoint, serialize.Training)
	}
	return nil
}

// checkOutputs returns an error if an output has a wrong extension, or is also an input of the run.
func (r *Run) checkOutputs() error {
	if err := checkExtensions(r.paths.Output, r.checkpoint); err != nil {
		return err
	}
	for _, path := range []string{r.paths.Output, r.checkpoint} {
		if err := regular.NotInput(path, r.o.Model, r.o.Start.Init); err != nil {
			return err
		}
	}
	return nil
}

// lockOutputs makes sure that the output files can be written, and locks them against other programs.
func (r *Run) lockOutputs() error {
	if r.follows() {
		return nil
	}
	unlock, err := regular.LockAll(r.paths.Output, r.checkpoint)
	if err != nil {
		return err
	}
	r.unlock = unlock
	if r.o.Overwrite || r.from != nil && sameFile(r.checkpoint, r.o.resumePath()) {
		return nil
	}
	return train.Replaceable(r.checkpoint, r.recipe)
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return a == b || err1 == nil && err2 == nil && os.SameFile(one, other)
}

// writeChain writes the chain of the run, a digest for each epoch, to the folder of the template. Only rank 0
// writes.
func (r *Run) writeChain(c *chain.Chain) error {
	if r.follows() {
		return nil
	}
	if r.paths.Output != "" {
		err := regular.WriteFile(chain.Path(r.paths.Output), 0o666, func(w io.Writer) error {
			_, err := w.Write(c.Bytes())
			return err
		})
		if err != nil {
			return err
		}
	}
	r.notify(Chained{c})
	return r.err()
}

// write writes the template and reports that the run is finished. With several ranks only rank 0 writes, and
// the other ranks return when it has written.
func (r *Run) write(ctx context.Context, s *train.Session, m *models.Model) error {
	if !r.follows() {
		sum, err := "", error(nil)
		if r.paths.Output != "" {
			sum, err = serialize.WriteModel(r.paths.Output, m)
		}
		if err != nil {
			return err
		}
		r.notify(s.Finished(r.paths.Output, sum))
	}
	if r.o.Peers == nil {
		return r.err()
	}
	_, err := r.o.Peers.Broadcast(context.WithoutCancel(ctx), nil)
	return cmp.Or(err, r.err())
}
