package report

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/problem"
)

// runSection is the section of a page that describes a run in words: its events, the commands that continue
// it, its machine and its recipe.
type runSection struct {
	ID, Title           string
	Open                bool
	Happened            []string
	GoOn                []command
	Environment, Recipe []field
}

// command is a command line and its purpose.
type command struct{ Why, Command string }

// mostHappened is the maximum number of events on a page.
const mostHappened = 200

func (r *Run) section(several bool) runSection {
	s := runSection{Title: "The run", Open: !several, Happened: r.story(), GoOn: r.goingOn(),
		Environment: r.environment(), Recipe: r.recipe}
	if several {
		s.Title = r.Name
		s.Happened = append(s.Happened, r.Notes...)
	}
	return s
}

// story returns sentences about the events of a run, except steps and epochs, and about the samples that were
// dropped or repeated.
func (r *Run) story() []string {
	out := r.Events
	if n := len(out); n > mostHappened {
		out = append([]string{fmt.Sprintf("%d events before these are left out", n-mostHappened)},
			out[n-mostHappened:]...)
	}
	dropped, twice, seen := 0, 0, 0
	for _, e := range r.epochs {
		dropped, twice, seen = dropped+e.Dropped, twice+e.Repeated, seen+e.Seen
	}
	if seen > 0 {
		text := fmt.Sprintf("%s seen in %s", problem.Plural(seen, "sample"), problem.Plural(len(r.epochs), "epoch"))
		switch {
		case dropped == 0 && twice == 0:
			text += ": no sample was dropped or given twice"
		default:
			text += fmt.Sprintf("; %d dropped, %d given twice, because the last batch of an epoch was not full",
				dropped,
				twice)
		}
		out = append(out, text)
	}
	for _, d := range []struct {
		skipped int
		subject string
	}{{r.start.recipe.Data.Skipped, "the data"}, {r.start.recipe.Validation.Skipped, "the validation data"}} {
		if d.skipped > 0 {
			out = append(out, fmt.Sprintf("%s of %s left out", problem.Plural(d.skipped, "bad file"), d.subject))
		}
	}
	out = append(out, r.stages()...)
	if r.repeated > 0 {
		out = append(out, fmt.Sprintf("%s done twice, because the run continued from a checkpoint",
			problem.Plural(r.repeated, "step")))
	}
	return out
}

// stages returns sentences about the layers of each stage. If the run has ended, they also state how long
// each stage waited.
func (r *Run) stages() (out []string) {
	list, ended := r.start.Stages, r.done != nil && len(r.done.Stages) > 0
	if ended {
		list = r.done.Stages
	}
	for i, s := range list {
		text := fmt.Sprintf("stage %d, %s, has %s, %s to %s: ", i+1, strings.Join(s.Devices, ", "),
			problem.Plural(s.Layers, "layer"), s.First, s.Last)
		if ended {
			text += fmt.Sprintf("it waited %.0f %% of the time of steps, and %.0f %% were expected", 100*s.Waited,
				100*s.Expected)
		} else {
			text += fmt.Sprintf("it is expected to wait %.0f %% of the time of steps", 100*s.Expected)
		}
		out = append(out, text)
	}
	if ended && r.done.Step != nil {
		out = append(out, r.done.Step.String())
	}
	return out
}

// goingOn returns the commands that continue a run or use its template.
func (r *Run) goingOn() []command {
	var out []command
	checkpoint := r.checkpoint
	if checkpoint == "" {
		checkpoint = r.start.Checkpoint
	}
	if r.done == nil && checkpoint != "" {
		resume := r.start.GoOn
		if resume == "" {
			resume = "bnctl train --resume " + legible.ShellWord(checkpoint)
		}
		out = append(out, command{"Train on from the last checkpoint, on any devices:", resume})
	}
	if r.done != nil && r.done.Model != "" {
		model := legible.ShellWord(r.done.Model)
		if d := r.start.Paths.Validation; d != "" {
			out = append(out, command{"Evaluate the template, with a page of mistakes:",
				"bnctl eval " + model + " --data " + legible.ShellWord(d) + " --mistakes mistakes"})
		}
		out = append(out, command{"Predict, or answer requests:", "bnctl predict " + model + " photos/\nbnctl " +
			"serve " + model},
			command{"Look at the batch norms of the template, or export it:",
				"bnctl doctor " + model + "\nbnctl export " + model + " -o " +
					legible.ShellWord(strings.TrimSuffix(r.done.Model,
						".bnm")+".onnx")})
		if k := r.start.recipe; checkpoint != "" && k.Epochs > 0 && (k.Schedule == "constant" ||
			strings.HasPrefix(k.Schedule, "step")) {
			out = append(out, command{"Train longer:", fmt.Sprintf("bnctl train --resume %s --epochs %d",
				legible.ShellWord(checkpoint),
				2*k.Epochs)})
		}
	}
	return append(out, command{"Make this page again, or compare runs:",
		"bnctl report " + legible.ShellWord(r.Path) +
			"\nbnctl report " + legible.ShellWord(r.Path) + " OTHER -o compare.html"})
}

// environment returns entries about the machine of a run, and about the files that the run wrote.
func (r *Run) environment() []field {
	var out []field
	add := func(name, value string) {
		if value != "" {
			out = append(out, field{name, value})
		}
	}
	add("state", r.state())
	e := &r.start
	add("sees", strings.Trim(e.Input+" · "+e.Pictures, " ·"))
	add("batch norm", e.BatchNorm)
	add("devices", placed(e.Devices, e.Placement))
	add("kernels", e.Kernels)
	if e.Deterministic != nil && !*e.Deterministic {
		add("same bits", "no: a device is not deterministic, or devices are of several kernel classes")
	}
	if e.Ranks > 1 {
		add("ranks", fmt.Sprint(e.Ranks))
	}
	if v := e.Environment; v != nil {
		add("hardware", strings.Join(v.Devices, "; "))
		add("machine", fmt.Sprintf("%s/%s, %s", v.OS, v.Arch, problem.Plural(v.CPUs, "logical CPU")))
		add("code", r.code())
		add("compiler", v.Go)
	}
	add("data", e.Paths.Data)
	add("validation", e.Paths.Validation)
	add("checkpoint", r.start.Checkpoint)
	if r.done != nil {
		add("template", r.done.Model)
		add("sha256", r.done.SHA256)
	}
	return out
}

// code returns the release and the revision of the program that trained.
func (r *Run) code() string {
	text := "bnctl " + r.start.recipe.Release
	if v := r.start.Environment; v != nil && v.Revision != "" {
		text += " (" + v.Revision[:min(12, len(v.Revision))] + ")"
	}
	return text
}

// placed returns the devices with the numbers of their replicas, as text.
func placed(devices []string, replicas []int) string {
	var out []string
	for i, d := range devices {
		if len(replicas) == len(devices) && len(devices) > 1 {
			d += fmt.Sprintf(" (%s)", problem.Plural(replicas[i], "replica"))
		}
		out = append(out, d)
	}
	return strings.Join(out, ", ")
}
