package conformance

import (
	"time"

	"github.com/bnctl/bnctl/device/devicetest"
)

// Case is what came of a case at a level, as JSON has it.
type Case struct {
	Level     string   `json:"level"`
	Name      string   `json:"case"`
	Rule      string   `json:"rule"` // of the contract, that it checks
	Precision string   `json:"precision"`
	Lacks     []string `json:"lacks,omitempty"` // operations that the device refused properly
	Error     string   `json:"error,omitempty"`
	Ms        int64    `json:"ms"`
}

// CaseOf describes a result.
func CaseOf(level string, r devicetest.Result) Case {
	c := Case{Level: level, Precision: r.Precision, Name: r.Case.Name, Rule: r.Case.Rule,
		Ms: r.Took.Round(time.Millisecond).Milliseconds()}
	for _, op := range r.Lacks {
		c.Lacks = append(c.Lacks, op.String())
	}
	if r.Err != nil {
		c.Error = r.Err.Error()
	}
	return c
}
