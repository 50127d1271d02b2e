package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device/devicetest"
)

// Case is the result of a conformance case at one level (transport), with the fields of its JSON form.
type Case struct {
	Level     string   `json:"level"`
	Name      string   `json:"case"`
	Rule      string   `json:"rule"` // the rule of the contract that the case checks
	Precision string   `json:"precision"`
	Lacks     []string `json:"lacks,omitempty"`   // operations that the device lacks, and refused as it may
	Refused   []string `json:"refused,omitempty"` // operations that the device has, with nodes that it refused
	Error     string   `json:"error,omitempty"`
	Advice    string   `json:"advice,omitempty"` // remedy for the author of the device
	Ms        int64    `json:"ms"`
}

// CaseOf returns the JSON form of a result.
func CaseOf(level string, r devicetest.Result) Case {
	c := Case{Level: level, Precision: r.Precision, Name: r.Case.Name, Rule: r.Rule(),
		Ms: r.Took.Round(time.Millisecond).Milliseconds()}
	for _, op := range r.Lacks {
		c.Lacks = append(c.Lacks, op.String())
	}
	for _, op := range r.Refused {
		c.Refused = append(c.Refused, op.String())
	}
	if r.Err != nil {
		c.Error, c.Advice = r.Err.Error(), r.Advice()
	}
	return c
}

// Lines returns the result as text: nothing for a case that passed, unless verbose.
func (c Case) Lines(verbose bool) []string {
	at := fmt.Sprintf("%s, %s: %s", c.Level, c.Precision, c.Name)
	switch {
	case c.Error != "":
		return []string{"FAULT  " + at + ": " + c.Error, "       rule: " + c.Rule, "       do: " + c.Advice}
	case len(c.Refused) > 0:
		return []string{"refused  " + at + ": its nodes of " + strings.Join(c.Refused, " ")}
	case verbose:
		return []string{"ok     " + at}
	}
	return nil
}
