package server

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/problem"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// requestOf converts a request of gRPC.
func requestOf(message *pb.ModelInferRequest) (*protocol.Request, error) {
	if err := checkParameters(message.Parameters); err != nil {
		return nil, err
	}
	r := &protocol.Request{ID: message.Id, Binary: true,
		Timeout: time.Duration(max(0, number(message.Parameters["timeout"]))) * time.Microsecond}
	r.Limits = limitsOf(message.Parameters)
	raw := message.RawInputContents
	if len(raw) > 0 && len(raw) != len(message.Inputs) {
		return nil, invalid("%s, and raw_input_contents has %d", problem.Plural(len(message.Inputs), "input"),
			len(raw))
	}
	for i, t := range message.Inputs {
		if err := checkParameters(t.Parameters); err != nil {
			return nil, err
		}
		input := protocol.Input{Name: t.Name, Datatype: t.Datatype, Shape: toInts(t.Shape)}
		var err error
		switch {
		case len(raw) > 0 && t.Contents != nil:
			return nil, invalid("input %.80q has contents and raw_input_contents; give one of them", t.Name)
		case len(raw) > 0:
			input.Raw = raw[i]
		default:
			input.Raw, err = rawOf(t)
		}
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, input)
	}
	for _, o := range message.Outputs {
		if err := checkParameters(o.Parameters); err != nil {
			return nil, err
		}
		classes := number(o.Parameters["classification"])
		if classes < 0 {
			return nil, invalid("output %.80q: classification %d; want at least 1", o.Name, classes)
		}
		r.Outputs = append(r.Outputs, protocol.Output{Name: o.Name, Classes: int(min(classes, math.MaxInt32))})
	}
	return r, nil
}

// checkParameters is protocol.CheckImplemented for the parameters of a gRPC request.
func checkParameters(p map[string]*pb.InferParameter) error {
	id := p["sequence_id"]
	sequence := number(id) != 0 || id.GetStringParam() != ""
	return protocol.CheckImplemented(p["shared_memory_region"] != nil, sequence)
}

// limitsOf returns protocol.Request.Limits from parameters of gRPC, which may have any type.
func limitsOf(parameters map[string]*pb.InferParameter) map[string]string {
	limits := map[string]string{}
	for _, name := range []string{"score", "overlap"} {
		switch p := parameters[name].GetParameterChoice().(type) {
		case *pb.InferParameter_DoubleParam:
			limits[name] = strconv.FormatFloat(p.DoubleParam, 'g', -1, 64)
		case *pb.InferParameter_StringParam:
			limits[name] = p.StringParam
		case nil:
		default:
			limits[name] = strconv.FormatInt(number(parameters[name]), 10)
		}
	}
	return limits
}

// number returns a parameter that is an integer of any type, or 0.
func number(p *pb.InferParameter) int64 {
	if n := p.GetUint64Param(); n > 0 {
		return int64(min(n, math.MaxInt64))
	}
	return p.GetInt64Param()
}

// rawOf returns the elements of an input as bytes, from the message field for the input's type.
func rawOf(t *pb.ModelInferRequest_InferInputTensor) ([]byte, error) {
	raw := []byte{}
	switch t.Datatype {
	case "FP32":
		for _, v := range t.Contents.GetFp32Contents() {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	case "UINT8":
		for _, v := range t.Contents.GetUintContents() {
			if v > math.MaxUint8 {
				return nil, invalid("input %.80q: %d is no UINT8", t.Name, v)
			}
			raw = append(raw, byte(v))
		}
	case "INT64":
		for _, v := range t.Contents.GetInt64Contents() {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	case "INT32":
		for _, v := range t.Contents.GetIntContents() {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		}
	case "BOOL":
		for _, v := range t.Contents.GetBoolContents() {
			b := byte(0)
			if v {
				b = 1
			}
			raw = append(raw, b)
		}
	default:
		return nil, invalid("input %.80q: %.80q is taken as raw_input_contents only", t.Name, t.Datatype)
	}
	return raw, nil
}

// answerOf converts an answer to gRPC, where the elements of outputs are always bytes.
func answerOf(a *protocol.Answer) *pb.ModelInferResponse {
	out := &pb.ModelInferResponse{ModelName: a.Model, ModelVersion: a.Version, Id: a.ID,
		Parameters: map[string]*pb.InferParameter{}}
	for name, v := range a.Parameters {
		out.Parameters[name] = &pb.InferParameter{ParameterChoice: &pb.InferParameter_StringParam{StringParam: v}}
	}
	for _, t := range a.Outputs {
		out.Outputs = append(out.Outputs, &pb.ModelInferResponse_InferOutputTensor{Name: t.Name,
			Datatype: t.Datatype, Shape: toInt64s(t.Shape)})
		out.RawOutputContents = append(out.RawOutputContents, t.Raw())
	}
	return out
}

func toInt64s(shape []int) []int64 {
	out := make([]int64, len(shape))
	for i, n := range shape {
		out[i] = int64(n)
	}
	return out
}

func toInts(shape []int64) []int {
	out := make([]int, len(shape))
	for i, n := range shape {
		out[i] = int(n)
	}
	return out
}
