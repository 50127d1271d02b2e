package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/server/internal/repository"
)

// keeper keeps the catalog to what is in the files of the models.
type keeper struct {
	catalog
	o       *Options
	watch   *repository.Watch
	refused map[repository.File]bool // files that cannot be served, as they are
	missing map[*served]bool         // whose file was not there at the last look
	retired sync.WaitGroup           // versions that answer what they accepted
	metrics *metrics
	ebbed   func() bool                 // much was held for peers, and is not any more
	looking *pending[looked]            // nil: nothing is asked
	opening map[string]*pending[opened] // by path
	skipped map[string]bool             // what was said of files that are no models
}

// forEver is longer than anything.
const forEver = 1 << 62

// load opens all that is there. One bad model is an error.
func (k *keeper) load(ctx context.Context) error {
	defer k.giveUp(nil)
	l, ok := k.look(ctx, forEver)
	if !ok {
		return context.Cause(ctx)
	}
	if l.err != nil {
		return l.err
	}
	k.say(l.skipped)
	if len(l.files) == 0 {
		return fmt.Errorf("%s: there is no such model, neither NAME%s nor NAME/VERSION/model%[2]s or model.onnx",
			strings.Join(k.o.Models, ", "), ".bnm")
	}
	for _, f := range l.files {
		m, err, ok := k.open(ctx, f, tellAfter)
		if !ok { // it is told of
			m, err, ok = k.open(ctx, f, forEver)
		}
		if !ok {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		k.put(m)
	}
	return nil
}

// say tells once why files are no models.
func (k *keeper) say(skipped []string) {
	said := map[string]bool{}
	for _, text := range skipped {
		if said[text] = true; !k.skipped[text] {
			k.o.note("%s", text)
		}
	}
	k.skipped = said
}

// keep looks for changes until ctx ends.
func (k *keeper) keep(ctx context.Context) {
	defer k.retired.Wait()
	defer func() { k.giveUp(nil) }()
	tick := time.NewTicker(k.o.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.poll(ctx)
			if k.ebbed() {
				k.o.tidy()
			}
		case <-ctx.Done():
			return
		}
	}
}

// poll serves what is new or has changed, if it held still, and no more what is
// gone. What cannot be served changes nothing.
func (k *keeper) poll(ctx context.Context) {
	l, ok := k.look(ctx, goOnAfter)
	if !ok {
		return
	}
	if l.err != nil {
		k.o.note("models are served as they were: %v", l.err)
		return
	}
	k.say(l.skipped)
	k.giveUp(l.files)
	files, still := l.files, l.still
	serving := map[repository.File]bool{}
	for _, m := range k.all() {
		serving[m.file] = true
	}
	maps.DeleteFunc(k.refused, func(f repository.File, _ bool) bool { return !slices.Contains(files, f) })
	complete := map[string]bool{}
	for i, f := range files {
		if _, ok := complete[f.Name]; !ok {
			complete[f.Name] = true
		}
		if !serving[f] && !(still[i] && k.update(ctx, f)) {
			complete[f.Name] = false
		}
	}
	for _, name := range l.unread {
		complete[name] = false
	}
	k.retireBut(files, complete)
}

// update serves a file, in place of what was that version, and reports whether
// it does.
func (k *keeper) update(ctx context.Context, f repository.File) bool {
	if k.refused[f] {
		return false
	}
	m, err, ok := k.open(ctx, f, goOnAfter)
	if !ok {
		return false
	}
	defer k.o.tidy()
	if ctx.Err() != nil {
		closeOpened(opened{f, m, err})
		return false // it is going away, not the file that is bad
	}
	if err != nil {
		if k.refused == nil {
			k.refused = map[repository.File]bool{}
		}
		k.refused[f] = true
		k.metrics.refused.Inc()
		k.o.note("%s is not served: %v", f.Path, err)
		return false
	}
	k.o.note("%s version %d is served from %s, sha256 %s", m.name, m.version, f.Path, m.sha256)
	if was := k.put(m); was != nil {
		k.retire(was)
	}
	return true
}

// retireBut retires versions that are not among the files, twice in a row: those
// of a model whose files are all served, and of one that has none.
func (k *keeper) retireBut(files []repository.File, complete map[string]bool) {
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[fmt.Sprint(f.Name, "/", f.Version)] = true
	}
	gone := map[*served]bool{}
	for _, m := range k.all() {
		done, there := complete[m.name]
		if wanted[m.name+"/"+m.label()] || there && !done {
			continue
		}
		if gone[m] = true; !k.missing[m] {
			continue
		}
		k.o.note("%s version %d is not served any more", m.name, m.version)
		k.remove(m)
		k.retire(m)
	}
	k.missing = gone
}

// retire lets a version answer what it accepted, and closes it. If no other has
// taken its place, metrics forget it.
func (k *keeper) retire(m *served) {
	k.retired.Go(func() {
		if err := m.close(); err != nil {
			k.o.note("%s version %d: %v", m.name, m.version, err)
		}
		if _, err := k.find(m.name, m.label()); err != nil {
			k.metrics.forget(m.name, m.label())
		}
		k.o.tidy()
	})
}

// closeAll closes everything that is served.
func (k *keeper) closeAll() error {
	k.retired.Wait()
	var errs []error
	for _, m := range k.all() {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}
