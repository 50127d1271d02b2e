// Package ranks exchanges the verdicts of the processes of a run: after every run each rank reports its
// outcome and the moments of its replicas to all other ranks.
package ranks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A report is one message: the verdict as JSON, a zero byte, then the moments of the
// rank's replicas as stored in memory, layer after layer:
//
//	| {"of":"train of version 7", ...} | 0 | moments of layer 0 | moments of layer 1 | ...

// Verdict is the outcome of a run on one rank.
type Verdict struct {
	Of     string `json:"of"`               // name of the run, which must be the same on all ranks
	Retry  bool   `json:"retry,omitempty"`  // a device has not finished: run again
	Fatal  string `json:"fatal,omitempty"`  // why the rank cannot continue
	Advice string `json:"advice,omitempty"` // remedy for Fatal
	Empty  bool   `json:"empty,omitempty"`  // the rank waits for a device
	Stop   bool   `json:"stop,omitempty"`   // the context of the rank has ended
	step.RankStats
}

// Report is a rank's message after a run: its verdict and its replicas'
// moments.
type Report struct {
	Verdict
	moments [][]byte
}

// Gather exchanges the reports of all ranks and returns them by rank.
func Gather(ctx context.Context, p *fabric.Peers, mine Verdict, moments []tensor.Tensor) ([]Report, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	b = append(b, 0)
	for _, m := range moments {
		b = append(b, m.Bytes...)
	}
	records, err := p.AllGather(ctx, b)
	if err != nil {
		return nil, err
	}
	all := make([]Report, len(records))
	for rank, record := range records {
		if err := all[rank].parse(record, moments); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return all, nil
}

// parse decodes a message of Gather. like has the moments of this rank. Their rows have the same
// length on all ranks.
func (r *Report) parse(record []byte, like []tensor.Tensor) error {
	end := 0
	for end < len(record) && record[end] != 0 {
		end++
	}
	if end == len(record) {
		return fmt.Errorf("a report of %d bytes has no end", len(record))
	}
	if err := json.Unmarshal(record[:end], &r.Verdict); err != nil {
		return fmt.Errorf("a report: %w", err)
	}
	rest, row := record[end+1:], 0
	for _, m := range like {
		row += tensor.Count(m.Shape[1:]) * m.DType.Size()
	}
	if r.Retry || r.Fatal != "" || row == 0 {
		return nil // the message has no moments
	}
	replicas := len(rest) / row
	for _, m := range like {
		n := replicas * tensor.Count(m.Shape[1:]) * m.DType.Size()
		r.moments, rest = append(r.moments, rest[:n]), rest[n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("a report has %d bytes too many", len(rest))
	}
	return nil
}

// Join returns moments i of all ranks, in the order of ranks; template has their type and row
// shape.
func Join(all []Report, i int, template tensor.Tensor) tensor.Tensor {
	var bytes []byte
	for _, r := range all {
		bytes = append(bytes, r.moments[i]...)
	}
	shape := append([]int{0}, template.Shape[1:]...)
	shape[0] = len(bytes) / (tensor.Count(template.Shape[1:]) * template.DType.Size())
	out := tensor.New(template.DType, shape...)
	copy(out.Bytes, bytes)
	return out
}
