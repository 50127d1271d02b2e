package main

import (
	"strings"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
)

// exported is the line of export --json.
type exported struct {
	Input        string `json:"input"`
	Output       string `json:"output"`
	SHA256       string `json:"sha256"`
	Architecture string `json:"architecture"`
	Parameters   int    `json:"parameters"`
	formats.Proof
	fold bool            // was asked for
	sick doctor.Sickness // of the input
}

// reportExport says what was written of m, in a format.
func reportExport(o *output, m *models.Model, e *exported, format string) {
	e.Architecture, e.Parameters = m.Architecture, m.Summary().Parameters
	if format == "onnx" {
		noteOfPictures(o, e.Output, m, "export")
	}
	o.event("export", e)
	if e.fold {
		o.result("folded %s; outputs differ by at most %.2g", counted(len(e.Folded), "batch norm"), e.MaxDifference)
	}
	if n := len(e.Kept); n > 0 {
		o.result("kept %d that no convolution or dense layer precedes: %s", n, strings.Join(e.Kept, ", "))
	}
	o.result("wrote %s  sha256 %s  (%s, %s)", e.Output, e.SHA256, e.Architecture,
		counted(e.Parameters, "parameter"))
	warnOfSickness(o, &e.sick, e.Input)
}
