package main

import (
	"strings"

	"github.com/bnctl/bnctl/modelfile/export"
)

// reportExport says what was written.
func reportExport(o *output, r *export.Report) {
	if r.Format == "onnx" {
		noteOfPictures(o, r.Output, r.Model, "export")
	}
	o.event("export", r)
	if r.FoldBN {
		o.result("folded %s; outputs differ by at most %.2g", counted(len(r.Folded), "batch norm"), r.MaxDifference)
	}
	if n := len(r.Kept); n > 0 {
		o.result("kept %d that no convolution or dense layer precedes: %s", n, strings.Join(r.Kept, ", "))
	}
	o.result("wrote %s  sha256 %s  (%s, %s)", r.Output, r.SHA256, r.Architecture,
		counted(r.Parameters, "parameter"))
	warnOfSickness(o, &r.Sick, r.Input)
}
