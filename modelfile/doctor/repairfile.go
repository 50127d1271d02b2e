package doctor

import (
	"cmp"
	"context"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
)

// RepairedFile is the result of RepairFile.
type RepairedFile struct {
	File   string `json:"file"`
	Output string `json:"output"`
	SHA256 string `json:"sha256"` // SHA-256 of the output, in hex
	*Repaired
}

// RepairFile does the same as Repair for a file, which may lack statistics if its architecture is known.
// It writes the repaired model to output, in the format of its extension. It is an error if
// weights are not finite, which new statistics cannot repair.
func RepairFile(ctx context.Context, path, output string, file modelfile.Options, o RepairOptions) (
	*RepairedFile, error) {
	if err := cmp.Or(regular.NotInput(output, path), regular.Writable(output)); err != nil {
		return nil, err
	}
	p, err := Examine(path, file)
	if err != nil {
		return nil, err
	}
	if o.Examined != nil {
		o.Examined(p)
	}
	if len(p.NonFinite) > 0 {
		return nil, problem.Failure("", path+": "+strings.Join(p.NonFinite, ", ")+" not finite",
			"statistics cannot mend weights: take an earlier checkpoint")
	}
	m, err := openIncomplete(path, file)
	if err != nil {
		return nil, err
	}
	mended, err := Repair(ctx, m, o)
	if err != nil {
		return nil, err
	}
	sum, err := formats.SaveModel(output, mended.Model)
	return &RepairedFile{File: path, Output: output, SHA256: sum, Repaired: mended}, err
}
