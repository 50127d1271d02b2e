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

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/repository"
)

// updater keeps the catalog of served models up to date with the models' files.
type updater struct {
	catalog
	o         *Options
	watch     *repository.Watch
	refused   map[repository.File]bool // files that cannot be served in their present state
	missing   map[*modelVersion]bool   // versions with files that were missing in the last scan
	retired   sync.WaitGroup           // waits for versions that still answer accepted requests
	metrics   *metrics
	trimmable func() bool                 // see memoryBudget.trimmable
	scanning  *pending[scanResult]        // nil: no scan is in progress
	opening   map[string]*pending[opened] // files that are being opened, by path
	skipped   map[string]bool             // messages about skipped files
}

// forever is longer than any wait.
const forever = 1 << 62

// load opens all models. A model that cannot be opened is an error.
func (k *updater) load(ctx context.Context) error {
	defer k.abandon(nil)
	l, ok := k.scan(ctx, forever)
	if !ok {
		return context.Cause(ctx)
	}
	if l.err != nil {
		return l.err
	}
	k.noteSkipped(l.skipped)
	if len(l.files) == 0 {
		return fmt.Errorf("%s: the model does not exist, neither NAME%s nor NAME/VERSION/model%[2]s or model.onnx",
			strings.Join(k.o.Models, ", "), ".bnm")
	}
	for _, f := range l.files {
		m, err, ok := k.open(ctx, f, warnAfter)
		if !ok { // reading is too slow; a note was written
			m, err, ok = k.open(ctx, f, forever)
		}
		if !ok {
			return context.Cause(ctx)
		}
		if err != nil && !k.o.SkipBad {
			return err
		}
		if err != nil {
			k.refuse(f, err)
			continue
		}
		k.put(m)
	}
	if len(k.allVersions()) == 0 {
		return fmt.Errorf("%s: none of %s can be served", strings.Join(k.o.Models, ", "),
			problem.Plural(len(l.files), "model"))
	}
	return nil
}

// refuse records that a file cannot be served in its present state, and notes the reason.
func (k *updater) refuse(f repository.File, err error) {
	if k.refused == nil {
		k.refused = map[repository.File]bool{}
	}
	k.refused[f] = true
	k.metrics.refused.Inc()
	k.o.note("%s is not served: %v", f.Path, err)
}

// noteSkipped notes each reason why a file is not served, once.
func (k *updater) noteSkipped(skipped []string) {
	said := map[string]bool{}
	for _, text := range skipped {
		if said[text] = true; !k.skipped[text] {
			k.o.note("%s", text)
		}
	}
	k.skipped = said
}

// watchFiles scans the files at intervals until ctx ends.
func (k *updater) watchFiles(ctx context.Context) {
	defer k.retired.Wait()
	defer func() { k.abandon(nil) }()
	tick := time.NewTicker(k.o.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.poll(ctx)
			if k.trimmable() {
				k.tuneGC()
			}
		case <-ctx.Done():
			return
		}
	}
}

// poll serves new and changed files if they were the same in two scans, and retires versions with files that
// are gone. If a file cannot be served, nothing changes.
func (k *updater) poll(ctx context.Context) {
	l, ok := k.scan(ctx, slowAfter)
	if !ok {
		return
	}
	if l.err != nil {
		k.noteSkipped([]string{fmt.Sprintf("models are served as they were: %v", l.err)})
		return
	}
	k.noteSkipped(l.skipped)
	k.abandon(l.files)
	files, still := l.files, l.unchanged
	serving := map[repository.File]bool{}
	for _, m := range k.allVersions() {
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
	k.retireExcept(files, complete)
}

// update serves a file in place of the previous file of the same version, and reports whether it succeeded.
func (k *updater) update(ctx context.Context, f repository.File) bool {
	if k.refused[f] {
		return false
	}
	m, err, ok := k.open(ctx, f, slowAfter)
	if !ok {
		return false
	}
	defer k.tuneGC()
	if ctx.Err() != nil {
		closeOpened(opened{f, m, err})
		return false // the server shuts down; this is not an error of the file
	}
	if err != nil {
		k.refuse(f, err)
		return false
	}
	k.o.note("%s version %d is served from %s, sha256 %s", m.name, m.version, f.Path, m.sha256)
	if was := k.put(m); was != nil {
		k.retire(was)
	}
	return true
}

// retireExcept retires versions with files that were missing in this and in the previous scan. If the scan
// found other files of the model, it first waits until all of these are served.
func (k *updater) retireExcept(files []repository.File, complete map[string]bool) {
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[fmt.Sprint(f.Name, "/", f.Version)] = true
	}
	gone := map[*modelVersion]bool{}
	for _, m := range k.allVersions() {
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

// retire closes a version after it has answered its accepted requests. Unless another file replaced the
// version, its metrics are removed.
func (k *updater) retire(m *modelVersion) {
	k.retired.Go(func() {
		if err := m.close(); err != nil {
			k.o.note("%s version %d: %v", m.name, m.version, err)
		}
		if _, err := k.find(m.name, m.label()); err != nil {
			k.metrics.forget(m.name, m.label())
		}
		k.tuneGC()
	})
}

// closeAll closes all versions.
func (k *updater) closeAll() error {
	k.retired.Wait()
	var errs []error
	for _, m := range k.allVersions() {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}
