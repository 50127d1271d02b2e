package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// Names of the files in a folder of logs that a report reads.
const (
	metricsFile    = "metrics.jsonl"
	evaluationFile = "evaluation.json"
)

// read reads a run from a folder of logs, from a file of events as JSON lines, or from a checkpoint. A
// checkpoint has the recipe, the progress and the current batch norms, but no curves. The error explains why
// there is no run at path. It is a *problem.Error if another path would work. The field Notes of the run
// lists the parts that could not be read.
func read(path string) (*Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing(path, err)
	}
	r := &Run{Name: filepath.Base(filepath.Clean(path)), Path: path}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case info.IsDir():
		if absolute, err := filepath.Abs(path); err == nil {
			r.Name = filepath.Base(absolute) // so that "." and ".." have a name
		}
		return r, r.readFolder(path)
	case ext == ".bnc":
		return r, r.readCheckpoint(path)
	case ext == ".bnm":
		return nil, noRun(path, "it is a template, which keeps no progress", "name its checkpoint, NAME.bnc")
	}
	return r, r.readLog(path)
}

func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return noRun(path, "it does not exist", "name the folder that {log-dir} named")
	}
	return err
}

// noRun returns the error for a path that is not a run.
func noRun(path, why, advice string) error {
	return problem.New("", "", fmt.Sprintf("%s: %s", path, why), advice)
}

// readFolder reads a folder of logs.
func (r *Run) readFolder(path string) error {
	log, number, others, err := newestLog(path)
	if err != nil {
		return err
	}
	if log == "" {
		others, _ := filepath.Glob(filepath.Join(path, "*.bnc"))
		advice := "name the folder that {log-dir} named"
		if len(others) > 0 {
			advice = "name a checkpoint in it: " + others[0]
		} else if boards, _ := filepath.Glob(filepath.Join(path, "events.out.tfevents.*")); len(boards) > 0 {
			advice = "its curves are for TensorBoard; train again, or name the checkpoint of the run, NAME.bnc"
		}
		return noRun(path, "it is not a folder of a run's logs: there is no "+metricsFile, advice)
	}
	if others > 0 {
		r.note("the folder has logs of %s in addition to this one, %s: name a log to see another",
			problem.Plural(others, "run"), filepath.Base(log))
	}
	if err := r.readLog(log); err != nil {
		return err
	}
	return r.readEvaluation(filepath.Join(path, numbered(evaluationFile, number)))
}

// logName matches the name of a log: metrics.jsonl, or metrics-2.jsonl for the second run in a folder.
var logName = regexp.MustCompile(`^metrics(?:-([0-9]+))?\.jsonl$`)

// newestLog returns the path of that log in a folder which was written last, the number of its run, counted
// from 1, and the number of other logs. path is "" without a log.
func newestLog(folder string) (path string, number, others int, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", 0, 0, err
	}
	var newest time.Time
	for _, e := range entries {
		m := logName.FindStringSubmatch(e.Name())
		info, err := e.Info()
		if m == nil || err != nil || e.IsDir() {
			continue
		}
		n, _ := strconv.Atoi(m[1]) // "" and numbers that are too large become 1
		others++
		if n = max(n, 1); path == "" || info.ModTime().After(newest) || info.ModTime().Equal(newest) && n > number {
			path, number, newest = filepath.Join(folder, e.Name()), n, info.ModTime()
		}
	}
	return path, number, max(others-1, 0), nil
}

// numbered returns the name of a file with the number of a run in it, for example report-2.html.
func numbered(name string, number int) string {
	if number < 2 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(number) + ext
}

// readLog reads a file of events.
func (r *Run) readLog(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.readLines(f); err != nil {
		return err
	}
	if r.start.Recipe == nil && len(r.epochs) == 0 && len(r.steps) == 0 {
		return noRun(path, "it has no event of a run", "name the folder that {log-dir} named")
	}
	if r.start.Recipe == nil {
		r.note("the event that begins the run is missing, and with it the recipe")
	}
	return nil
}

// mostEvaluation is the maximum size of the file of an evaluation, in bytes.
const mostEvaluation = 256 << 20

// readEvaluation reads the file of an evaluation, with classes, confusions and mistakes, if it exists.
func (r *Run) readEvaluation(path string) error {
	b, err := regular.Read(path, mostEvaluation)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var e evaluated
	if err := json.Unmarshal(b, &e); err != nil || !e.valid() {
		r.note("%s is damaged and is left out", evaluationFile)
		return nil
	}
	if e.Recipe != "" && r.start.Recipe != nil && e.Recipe != sumOf(r.start.Recipe) {
		r.note("%s is of another run and is left out", evaluationFile)
		return nil
	}
	r.evaluation = &e
	return nil
}

// readCheckpoint reads the recipe, the progress and the batch norms from a checkpoint.
func (r *Run) readCheckpoint(path string) error {
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return err
	}
	r.start.Recipe, r.recipe, r.checkpoint = k.Recipe, fieldsOf(k.Recipe), path
	if r.start.recipe, err = knownOf(k.Recipe); err != nil {
		return fmt.Errorf("%s: recipe: %w", path, err)
	}
	var header struct {
		Progress struct {
			Step int `json:"step"`
		} `json:"progress"`
		Paths progress.Paths `json:"paths"`
	}
	if err := json.Unmarshal(k.Progress, &header); err != nil {
		return fmt.Errorf("%s: progress: %w", path, err)
	}
	r.stands, r.start.Paths, r.start.Checkpoint = header.Progress.Step, header.Paths, path
	if p, err := recipe.Parse(k.Recipe); err == nil {
		r.start.TotalSteps = p.TotalSteps()
	}
	if b := progress.BestOf(k); b != nil {
		r.happened("the best so far: " + b.String())
	}
	r.note("a checkpoint keeps no curves: train with --log-dir for these")
	m, err := serialize.Unwrap(k)
	if err != nil {
		return err
	}
	now := train.Norms{Epoch: max(1, r.epochOf(header.Progress.Step))}
	for _, n := range formats.ModelNorms(m) {
		if !n.Mean.IsZero() && !n.Variance.IsZero() {
			now.Layers = append(now.Layers, bn.Summarise(n, tensor.Tensor{}, bn.Norm{}))
		}
	}
	r.norms = []train.Norms{now}
	return nil
}

// epochOf returns the epoch that a step is in, counted from 1.
func (r *Run) epochOf(step int) int {
	if per := r.stepsPerEpoch(); per > 0 {
		return (step + per - 1) / per
	}
	return 0
}
