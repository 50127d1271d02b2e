package wire

import (
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// EncodeExchange encodes one exchange of a group, and lists the partial values that are
// present.
func EncodeExchange(tag collective.Tag, values []collective.Reduction) (*pb.Exchange, []tensor.Tensor) {
	out := &pb.Exchange{Tag: &pb.Tag{
		Generation: tag.Generation, Step: tag.Step, Lane: pb.Lane(tag.Lane), Sequence: tag.Sequence, Name: tag.Name,
	}}
	var partials []tensor.Tensor
	for _, v := range values {
		w := &pb.Value{Op: pb.Reduction(v.Op), Result: header(v.Result)}
		for _, p := range v.Partials {
			absent := p.Value.IsZero()
			w.Parts = append(w.Parts, &pb.Part{From: int32(p.Node.From), To: int32(p.Node.To), Absent: absent})
			if !absent {
				partials = append(partials, p.Value)
			}
		}
		out.Values = append(out.Values, w)
	}
	return out, partials
}

// DecodeExchange decodes an exchange. partials are the present partial values, which have
// arrived as tensors. A result larger than limit bytes is an error. The results have no memory
// yet: see SetResults.
func DecodeExchange(in *pb.Exchange, partials []tensor.Tensor, limit int64) (
	collective.Tag, []collective.Reduction, error) {
	t := in.GetTag()
	tag := collective.Tag{
		Generation: t.GetGeneration(), Step: t.GetStep(), Lane: collective.Lane(t.GetLane()),
		Sequence: t.GetSequence(), Name: t.GetName(),
	}
	if l := t.GetLane(); l < 0 || l >= collective.Lanes {
		return tag, nil, fmt.Errorf("exchange %s in lane %d, there are %d", tag.Name, l, collective.Lanes)
	}
	var values []collective.Reduction
	for i, v := range in.GetValues() {
		r, rest, err := decodeReduction(v, partials, limit)
		if err != nil {
			return tag, nil, fmt.Errorf("exchange %s: value %d: %w", tag.Name, i, err)
		}
		values, partials = append(values, r), rest
	}
	if len(partials) > 0 {
		return tag, nil, fmt.Errorf("exchange %s: %d tensors belong to no part", tag.Name, len(partials))
	}
	return tag, values, nil
}

// SetResults sets the memory of the results of an exchange.
func SetResults(values []collective.Reduction, results []tensor.Tensor) {
	for i, t := range results {
		values[i].Result = t
	}
}

// decodeReduction decodes a value. Its result has no memory yet.
func decodeReduction(v *pb.Value, partials []tensor.Tensor, limit int64) (
	r collective.Reduction, rest []tensor.Tensor, err error) {
	result, err := shapeOf(v.GetResult())
	if err != nil {
		return r, nil, err
	}
	if err := checkReduction(v.GetOp(), result, limit); err != nil {
		return r, nil, err
	}
	r = collective.Reduction{Op: collective.Op(v.GetOp()), Result: result}
	size := result.Count() * result.DType.Size()
	for _, p := range v.GetParts() {
		partial := collective.Partial{Node: collective.Node{From: int(p.GetFrom()), To: int(p.GetTo())}}
		if !p.GetAbsent() {
			if len(partials) == 0 || partials[0].DType != result.DType || len(partials[0].Bytes) != size {
				return r, nil, fmt.Errorf("part %v does not come as %v", partial.Node, result)
			}
			partial.Value, partials = partials[0], partials[1:]
		}
		r.Partials = append(r.Partials, partial)
	}
	return r, partials, nil
}

// checkReduction returns an error if package collective cannot reduce values of this type.
func checkReduction(op pb.Reduction, t tensor.Tensor, limit int64) error {
	switch {
	case Bytes([]tensor.Tensor{t}) > limit:
		return fmt.Errorf("%v is larger than anything that this run reduces", t)
	case op == pb.Reduction_REDUCTION_SUM && (t.DType == tensor.F32 || t.DType == tensor.F64):
		return nil
	case op == pb.Reduction_REDUCTION_MERGE_MOMENTS && t.DType == tensor.F64 && t.Count()%2 == 1:
		return nil
	}
	return fmt.Errorf("%v of %v is no reduction", op, t)
}

// Results returns the tensors for the results of an exchange.
func Results(values []collective.Reduction) []tensor.Tensor {
	out := make([]tensor.Tensor, len(values))
	for i, v := range values {
		out[i] = v.Result
	}
	return out
}
