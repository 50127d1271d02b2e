package main

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() { scriptCommands["samefigures"] = sameFigures }

// sameFigures implements the command "sameFigures RUN EVALUATION". It compares the loss and the accuracy of
// the last epoch of a run, in the JSON lines of train, with those in the JSON line of eval. All digits must
// be equal.
func sameFigures(ts *testscript.TestScript, _ bool, args []string) {
	run, evaluation := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	for _, name := range []string{"loss", "accuracy"} {
		trained := regexp.MustCompile(`"val_`+name+`":([-0-9.e]+)`).FindAllStringSubmatch(run, -1)
		evaluated := regexp.MustCompile(`"` + name + `":([-0-9.e]+)`).FindStringSubmatch(evaluation)
		if len(trained) == 0 || evaluated == nil {
			ts.Fatalf("%s and %s: %d and %d values of %s", args[0], args[1], len(trained), len(evaluated), name)
		}
		if got, want := evaluated[1], trained[len(trained)-1][1]; got != want {
			ts.Fatalf("%s is %s, want %s as in the last epoch", name, got, want)
		}
	}
}
