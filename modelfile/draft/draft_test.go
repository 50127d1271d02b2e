package draft

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// file is a state dict of tensors NAME SHAPE.
func file(tensors ...any) *formats.File {
	f := &formats.File{Format: "pytorch zip"}
	for i := 0; i < len(tensors); i += 2 {
		f.Tensors = append(f.Tensors, formats.InMemory(tensors[i].(string), tensor.New(tensor.F32,
			tensors[i+1].([]int)...)))
	}
	return f
}

// normOf returns the tensors of a batch norm with n channels.
func normOf(name string, n int) []any {
	var all []any
	for _, suffix := range []string{"weight", "bias", "running_mean", "running_var"} {
		all = append(all, name+"."+suffix, []int{n})
	}
	return append(all, name+".num_batches_tracked", []int{})
}

// The draft of a chain of layers is a complete graph. It can be parsed, and has all
// tensors.
func TestDraftOfAChain(t *testing.T) {
	tensors := append([]any{"conv1.weight", []int{8, 3, 3, 3}}, normOf("bn1", 8)...)
	tensors = append(tensors, "dw.weight", []int{8, 1, 5, 5}, "dw.bias", []int{8}, "up.weight", []int{8, 4, 2, 2},
		"up.bias", []int{4}, "fc.weight", []int{10, 4}, "fc.bias", []int{10})
	d, err := Of(file(tensors...), "chain", []int{3, 16, 16})
	if err != nil {
		t.Fatal(err)
	}
	// The stride of each convolution and the pooling before the dense layer are guesses.
	if d.Open != 4 || d.Layers != 5 {
		t.Errorf("%d open of %d layers, want 4 of 5\n%s", d.Open, d.Layers, d.Text)
	}
	want := "4 lines left open or guessed where a ? is, with strides and padding of 3 convolutions; the draft lacks"
	if got := d.Summary("chain.pth"); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	g, err := graph.ParseGraph([]byte(d.Text))
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Text)
	}
	if len(g.State) != 11 {
		t.Errorf("%d tensors, want 11", len(g.State))
	}
	for _, want := range []string{"groups=8", "conv_transpose(dw", "pad=[2,2,2,2]", "gamma ones",
		"rows f32[3,16,16]"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the draft lacks %q:\n%s", want, d.Text)
		}
	}
}

// 1-D samples become images of height 1. Unknown layers are left open, but their tensors
// are declared.
func TestDraftOfWhatIsOpen(t *testing.T) {
	d, err := Of(file("x.weight", []int{8, 4, 5}, "gn.weight", []int{8}, "gn.bias", []int{8},
		"act.weight", []int{8}, "other.weight", []int{5, 7}, "pos", []int{1, 16}), "lines", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"state x.weight f32[8,4,1,5] weight he_normal(0)",
		"x.image = reshape(input, shape=[4,1,224])",
		"gn = group_norm(x.line, @gn.weight, @gn.bias, groups=?)", "act = prelu(gn, @act.weight)",
		"other = dense(?, @other.weight)", "state pos f32[1,16] weight", "func main(input rows f32[4,224])"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the draft lacks %q:\n%s", want, d.Text)
		}
	}
	if d.Open != 4 || d.Strides != 1 {
		t.Errorf("%d are open and %d have no strides, want 4 and 1", d.Open, d.Strides)
	}
}

// Tensors that do not describe layers are refused.
func TestDraftWithoutStructure(t *testing.T) {
	for _, f := range []*formats.File{file("flat_param", []int{100}), file("0", []int{3, 4}, "1", []int{5}),
		file("weight_scale", []int{2, 2})} {
		if _, err := Of(f, "n", nil); err == nil || !strings.Contains(err.Error(), "says what layers there are") {
			t.Errorf("%s: %v", f.Tensors[0].Name, err)
		}
	}
}

// TestDraftOfAShortcut: a convolution with channels that do not fit may be a shortcut or have groups. Its
// operand is open.
func TestDraftOfAShortcut(t *testing.T) {
	d, err := Of(file("conv1.weight", []int{32, 16, 3, 3}, "conv2.weight", []int{32, 32, 3, 3},
		"short.weight", []int{32, 16, 1, 1}, "act.weight", []int{1}), "net", []int{16, 8, 8})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Text, "short = conv(?, @short.weight)") || d.Open != 3 || d.Strides != 3 {
		t.Errorf("%d open, %d without strides\n%s", d.Open, d.Strides, d.Text)
	}
	if !strings.Contains(d.Text, "act.each = broadcast_to(@act.weight, shape=[32])") {
		t.Errorf("the slope is not one for all channels:\n%s", d.Text)
	}
	if _, err := graph.ParseGraph([]byte(d.Text)); err == nil || !strings.Contains(err.Error(), "line ") {
		t.Errorf("got error %v, want the place of the ?", err)
	}
}
