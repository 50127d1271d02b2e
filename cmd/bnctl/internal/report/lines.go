package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// longest is the maximum length of a line in a log, in bytes.
const longest = 64 << 20

// bare matches numbers that JSON does not have, like NaN, as other programs write them.
var bare = regexp.MustCompile(`([:,\[]\s*)[-+]?(NaN|nan|Infinity|Inf|inf)\b`)

// readLines reads the events of a log, which has a JSON object in each line. It counts the lines that cannot
// be read; a run that was killed may leave an incomplete one.
func (r *Run) readLines(src io.Reader) error {
	buffered := bufio.NewReaderSize(src, 1<<16)
	unread, torn := 0, false
	for {
		line, err := readLine(buffered)
		if len(bytes.TrimSpace(line)) > 0 {
			if !r.takeLine(line) {
				unread++
				torn = errors.Is(err, io.EOF)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if torn {
		r.note("the last line of the log was cut off and is left out")
		unread--
	}
	if unread > 0 {
		r.note("%s of the log could not be read and %s left out", problem.Plural(unread, "line"), were(unread))
	}
	return nil
}

func were(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// readLine returns the next line. If the line is too long, it is truncated, so that it is not valid JSON.
func readLine(src *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := src.ReadSlice('\n')
		if len(line) < longest {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (r *Run) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// takeLine adds the event in a line to the run, and reports whether the line could be read. Events that a
// report does not show count as read.
func (r *Run) takeLine(line []byte) bool {
	var head struct {
		Event *string `json:"event"`
	}
	if json.Unmarshal(line, &head) != nil {
		line = bare.ReplaceAll(line, []byte("${1}null"))
		if json.Unmarshal(line, &head) != nil {
			return false
		}
	}
	if head.Event == nil {
		return false
	}
	take, ok := takers[*head.Event]
	return !ok || take(r, line) == nil
}

// takers has the function that adds each kind of event to a run, by the name of the event.
var takers = map[string]func(*Run, []byte) error{
	"start": taker((*Run).takeStart), "step": taker((*Run).takeStep), "epoch": taker((*Run).takeEpoch),
	"norms": taker((*Run).takeNorms), "done": taker((*Run).takeDone),
	"device_lost": taker(func(r *Run, e train.DeviceLost) {
		text := fmt.Sprintf("step %d: device %s was lost: %s", e.Step, e.Device, e.Reason)
		if len(e.MovedTo) > 0 {
			text += "; its replicas moved to " + strings.Join(e.MovedTo, ", ")
		}
		r.happened(text)
	}),
	"device_back": taker(func(r *Run, e train.DeviceBack) {
		r.happened(fmt.Sprintf("step %d: device %s was back", e.Step, e.Device))
	}),
	"device_joined": taker(func(r *Run, e train.DeviceJoined) {
		r.happened(fmt.Sprintf("step %d: device %s joined", e.Step, e.Device))
	}),
	"stage_moved": taker(func(r *Run, e train.StageMoved) {
		r.happened(fmt.Sprintf("step %d: the layers of stage %d, %s to %s, went to %s", e.Step, e.Stage, e.First,
			e.Last, strings.Join(e.To, ", ")))
	}),
	"placed": taker(func(r *Run, e train.Placed) {
		r.happened(fmt.Sprintf("step %d: replicas were placed by speed: %v on %s", e.Step, e.Replicas,
			strings.Join(e.Devices, ", ")))
	}),
	"level": taker(func(r *Run, e train.AtHost) {
		r.happened(fmt.Sprintf("devices exchanged at level %s: %s", e.Level, e.Reason))
	}),
	"stopped_early": taker(func(r *Run, e train.StoppedEarly) {
		r.stopped = e.Reason
		r.happened(fmt.Sprintf("step %d: stopped early, %s without a better %s; the best was epoch %d", e.Step,
			problem.Plural(e.Evaluations, "evaluation"), e.Figure, e.BestEpoch))
	}),
	"checkpoint": taker(func(r *Run, e train.CheckpointWritten) { r.checkpoint, r.stands = e.Path, e.Step }),
}

// taker returns a function that decodes an event of type E and calls take with it.
func taker[E any](take func(*Run, E)) func(*Run, []byte) error {
	return func(r *Run, line []byte) error {
		var e E
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		take(r, e)
		return nil
	}
}

func (r *Run) happened(text string) { r.Events = append(r.Events, text) }

// takeStart begins a new run, or continues the run of the lines before. A run that continues from a
// checkpoint repeats the steps after it.
func (r *Run) takeStart(e start) {
	e.recipe, _ = knownOf(e.Recipe)
	switch continued := sameRun(r.start.recipe, e.recipe); {
	case r.start.Recipe == nil:
	case e.FirstStep == 0 || !continued:
		if len(r.epochs)+len(r.steps) > 0 {
			r.note("the folder has lines of an earlier run, of %s on %s, too: they are left out", r.start.recipe.Model,
				r.start.recipe.Data.Kind)
		}
		*r = Run{Name: r.Name, Path: r.Path, Notes: r.Notes}
	default:
		r.goOn(e.FirstStep)
	}
	if r.start.Recipe == nil && e.FirstStep > 0 {
		r.note("what came before step %d is not in the log", e.FirstStep)
	}
	r.start, r.recipe, r.done, r.stopped = e, fieldsOf(e.Recipe), nil, ""
	r.stands = e.FirstStep
}

// goOn notes that the run was resumed at the step first. Steps that are repeated have exactly the same
// figures as before.
func (r *Run) goOn(first int) {
	r.resumed++
	last := 0
	if n := len(r.steps); n > 0 {
		last = max(last, r.steps[n-1].Step)
	}
	text := fmt.Sprintf("step %d: resumed", first)
	if last > first {
		r.repeated += last - first
		text += fmt.Sprintf("; %s since the checkpoint made again", problem.Plural(last-first, "step"))
	}
	r.happened(text)
}

// stepsPerEpoch returns the number of steps in an epoch, or 0 if it is unknown.
func (r *Run) stepsPerEpoch() int {
	if n := r.start.recipe.Epochs; n > 0 {
		return r.start.TotalSteps / n
	}
	for _, s := range r.steps {
		if s.Epoch > 1 {
			return (s.Step - 1) / (s.Epoch - 1)
		}
	}
	return 0
}

// sameRun reports whether a and b may be the recipes of a run and of its continuation.
func sameRun(a, b knownRecipe) bool {
	return a.Model == b.Model && a.Data.Fingerprint == b.Data.Fingerprint && a.BN == b.BN
}

func (r *Run) takeStep(e step) {
	r.stands = max(r.stands, e.Step)
	if n := len(r.steps); n == 0 || r.steps[n-1].Step < e.Step {
		r.steps = append(r.steps, e)
	}
}

func (r *Run) takeEpoch(e epoch) {
	if n := len(r.epochs); n > 0 && r.epochs[n-1].Epoch >= e.Epoch {
		return
	}
	r.epochs = append(r.epochs, e)
	if e.Warning != "" {
		r.happened(fmt.Sprintf("epoch %d: %s", e.Epoch, e.Warning))
	}
}

func (r *Run) takeNorms(e train.Norms) {
	if n := len(r.norms); n == 0 || r.norms[n-1].Epoch < e.Epoch {
		r.norms = append(r.norms, e)
	}
}

func (r *Run) takeDone(e finished) {
	r.done, r.stands = &e, e.Steps
	for _, l := range e.Lost {
		if l.Excluded != "" {
			r.happened(fmt.Sprintf("device %s was lost %s: %s", l.Device, problem.Plural(l.Times, "time"), l.Excluded))
		}
	}
}
