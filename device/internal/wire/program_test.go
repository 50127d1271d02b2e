package wire

import (
	"bytes"
	"os"
	"testing"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"google.golang.org/protobuf/proto"
)

// programs returns example programs: a golden program with updates, kept outputs and
// all-reduces, and the inference program of a model of the zoo.
func programs(t testing.TB) []*graph.Program {
	t.Helper()
	text, err := os.ReadFile("../../../graph/testdata/step.program")
	if err != nil {
		t.Fatal(err)
	}
	step, err := graph.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Build("mobilenetv2", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := m.Graph
	f, err := spmd.PredictFunction(g)
	if err != nil {
		t.Fatal(err)
	}
	return []*graph.Program{step, {Name: g.Name, State: g.State, Functions: []*graph.Function{f}}}
}

func TestProgramsArriveAsTheyWere(t *testing.T) {
	for _, p := range programs(t) {
		for i := range p.State {
			p.State[i].Init = graph.Init{} // initialization rules are not sent
		}
		b, err := EncodeProgram(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeProgram(b)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Text(); !bytes.Equal(got.Text(), want) {
			t.Errorf("program %s arrived as\n%s\nwas\n%s", p.Name, got.Text(), want)
		}
	}
}

// TestAttributesAreComplete checks that attributes are sent even if they have default values, so that
// a plugin needs no table of defaults.
func TestAttributesAreComplete(t *testing.T) {
	n := encodeNode(&graph.Node{Op: graph.Conv})
	var keys []string
	for _, a := range n.Attributes {
		keys = append(keys, a.Key)
	}
	want := []string{"dilation", "groups", "pad", "stride"}
	if len(keys) != len(want) {
		t.Fatalf("attributes %v, want %v", keys, want)
	}
	for i := range want {
		if keys[i] != want[i] || n.Attributes[i].Value == nil {
			t.Errorf("attribute %v, want %s with its default", n.Attributes[i], want[i])
		}
	}
}

func TestForeignPrograms(t *testing.T) {
	good, err := EncodeProgram(programs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*pb.Program){
		"operation of the future": func(p *pb.Program) { p.Functions[0].Nodes[0].Op = 9999 },
		"negative operation":      func(p *pb.Program) { p.Functions[0].Nodes[0].Op = -1 },
		"huge operation":          func(p *pb.Program) { p.Functions[0].Nodes[0].Op = 1<<16 + 10 },
		"operand out of range":    func(p *pb.Program) { p.Functions[0].Nodes[0].In[0] = 1 << 30 },
		"result out of range":     func(p *pb.Program) { p.Functions[0].Nodes[0].Out[0] = -7 },
		"type without a type":     func(p *pb.Program) { p.Functions[0].Values[0].Type = nil },
		"relation out of range":   func(p *pb.Program) { p.Functions[0].Values[0].Relation = 257 },
		"shape of exabytes":       func(p *pb.Program) { p.State[0].Type.Shape = []int64{1 << 40, 1 << 40} },
		"negative shape":          func(p *pb.Program) { p.State[0].Type.Shape = []int64{-1} },
		"attribute without value": func(p *pb.Program) {
			n := p.Functions[0].Nodes[0]
			n.Attributes = append(n.Attributes, &pb.Attribute{Key: "stride"})
		},
		"unknown attribute": func(p *pb.Program) {
			n := p.Functions[0].Nodes[0]
			n.Attributes = append(n.Attributes, &pb.Attribute{Key: "x", Value: &pb.Attribute_Int{Int: 1}})
		},
		"output out of range": func(p *pb.Program) { p.Functions[0].Outputs[0].Value = -1 },
		"update out of range": func(p *pb.Program) {
			p.Functions[1].Updates = []*pb.Update{{State: p.State[0].Name, Value: 1 << 20}}
		},
	} {
		p := &pb.Program{}
		if err := proto.Unmarshal(good, p); err != nil {
			t.Fatal(err)
		}
		change(p)
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeProgram(b); err == nil {
			t.Errorf("a program with an %s passed", name)
		}
	}
}

// FuzzDecodeProgram checks that DecodeProgram never panics and that every accepted program
// can be encoded again.
func FuzzDecodeProgram(f *testing.F) {
	for _, p := range programs(f) {
		b, err := EncodeProgram(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeProgram(b)
		if err != nil {
			return
		}
		again, err := EncodeProgram(p)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := DecodeProgram(again); err != nil || !bytes.Equal(p.Text(), q.Text()) {
			t.Errorf("a program changed on its second way: %v", err)
		}
	})
}
