package wire

import (
	"fmt"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
)

func encodeAttribute(a graph.Attr) *pb.Attribute {
	out := &pb.Attribute{Key: a.Key}
	switch v := a.Val.(type) {
	case int64:
		out.Value = &pb.Attribute_Int{Int: v}
	case float64:
		out.Value = &pb.Attribute_Float{Float: v}
	case bool:
		out.Value = &pb.Attribute_Bool{Bool: v}
	case string:
		out.Value = &pb.Attribute_Text{Text: v}
	case []int64:
		out.Value = &pb.Attribute_Ints{Ints: &pb.Ints{Values: v}}
	case []float64:
		out.Value = &pb.Attribute_Floats{Floats: &pb.Floats{Values: v}}
	}
	return out
}

func decodeAttribute(in *pb.Attribute) (graph.Attr, error) {
	a := graph.Attr{Key: in.Key}
	switch v := in.Value.(type) {
	case *pb.Attribute_Int:
		a.Val = v.Int
	case *pb.Attribute_Float:
		a.Val = v.Float
	case *pb.Attribute_Bool:
		a.Val = v.Bool
	case *pb.Attribute_Text:
		a.Val = v.Text
	case *pb.Attribute_Ints:
		a.Val = append([]int64(nil), v.Ints.GetValues()...)
	case *pb.Attribute_Floats:
		a.Val = append([]float64(nil), v.Floats.GetValues()...)
	default:
		return a, fmt.Errorf("attribute %q has no value", in.Key)
	}
	return a, nil
}
