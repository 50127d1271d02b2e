package torch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// dict makes a dict of keys and values in turn.
func dict(keysAndValues ...any) *pickle.Dict {
	d := &pickle.Dict{}
	for i := 0; i < len(keysAndValues); i += 2 {
		d.Entries = append(d.Entries, pickle.Entry{Key: keysAndValues[i], Value: keysAndValues[i+1]})
	}
	return d
}

func of(shape ...int) *view { return &view{dtype: tensor.F32, shape: shape} }

// network returns a new state dict of one layer.
func network() *pickle.Dict {
	return dict("conv.weight", of(4, 3, 3, 3), "bn.running_mean", of(4), "bn.running_var", of(4))
}

func object(module, name string, args ...any) *pickle.Call {
	return &pickle.Call{Func: pickle.Global{Module: module, Name: name}, Args: args}
}

// TestChoose finds the state dict of a checkpoint by its key, or reports that it must be
// named.
func TestChoose(t *testing.T) {
	same := network()
	for name, c := range map[string]struct {
		root *pickle.Dict
		want string // the key of the chosen state dict
		err  string // a part of the error; "" if it succeeds
	}{
		"alone":            {network(), "", ""},
		"below a key":      {dict("mine", network(), "epoch", int64(3)), "mine", ""},
		"a usual key":      {dict("mine", network(), "model", network()), "model", ""},
		"no usual key":     {dict("mine", network(), "other", network()), "", "2 candidates"},
		"no layer's names": {dict("weights", dict("foo", of(2, 2)), "zzz", dict("bar", of(2))), "weights", ""},
		"a usual key with no layer's names": {dict("weights", dict("foo", of(2, 2)), "zzz", network()),
			"", "2 candidates"},
		"beside a single value":     {dict("mine", network(), "best", dict("loss", of())), "mine", ""},
		"beside what is no layer's": {dict("mine", network(), "extra", dict("criterion.pos", of(3))), "mine", ""},
		"twice the same":            {dict("mine", same, "other", same), "mine", ""},
		"beside an optimizer": {dict("mine", network(), "o", dict("state", dict("conv.weight", of(4, 3, 3, 3)),
			"param_groups", &pickle.List{})), "mine", ""},
		"beside what is called state": {dict("mine", network(), "o", dict("state", network())), "", "2 candidates"},
		"beside the training":         {dict("mine", network(), "optimizer", network()), "mine", ""},
		"beside a key that is none":   {dict("mine", network(), 3.5, network()), "mine", ""},
		"beside an average":           {dict("mine", network(), "ema", network()), "mine", ""},
		"an average alone":            {dict("ema", network()), "", "use ema"},
		"branches":                    {dict("a", dict("weight", of(2, 2)), "b.weight", of(2, 2)), "", ""},
		"a larger branch":             {dict("a", dict("weight", of(2, 2), "bias", of(2)), "b.weight", of(2, 2)), "", ""},
		"one layer beside one":        {dict("fc.weight", of(2, 2), "net", dict("conv.weight", of(2, 2))), "", ""},
		"a head beside a network":     {dict("fc.weight", of(2, 2), "state_dict", network()), "state_dict", ""},
		"nothing":                     {dict("epoch", int64(3)), "", "no state dict is in the file"},
	} {
		d, err := choose(c.root, Options{})
		if d.String() != c.want || (err == nil) != (c.err == "") || !strings.Contains(fmt.Sprint(err), c.err) {
			t.Errorf("%s: key %q, error %v, want %q, %q", name, d, err, c.want, c.err)
		}
	}
}

// collected returns the names of the tensors that the collector finds in a dict, or the error.
func collected(root *pickle.Dict) string {
	into := &collector{File: &foreign.File{}, seen: map[any]bool{}}
	if err := into.collect(root.Entries, "", 0); err != nil {
		return err.Error()
	}
	var names []string
	for _, t := range into.Tensors {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// TestCollect collects the tensors of a state dict. Tensors that only training needs are
// left out if they are stored next to the layers. A tensor with such a name is kept if it
// is part of a layer.
func TestCollect(t *testing.T) {
	long := strings.Repeat("x", foreign.MaxName)
	for want, root := range map[string]*pickle.Dict{
		"a.weight b.optimizer.weight": dict("a.weight", of(2), "b", dict("optimizer", dict("weight", of(2)))),
		"c.weight":                    dict("c.weight", of(2), "optimizer", dict("weight", of(2))),
		"d.weight":                    dict("d.weight", of(2), "ema", dict("weight", of(2))),
		"e.weight":                    dict("e.weight", of(2), "o", dict("state", of(2), "param_groups", of(2))),
		"f.weight":                    dict("f.weight", of(2), "args", object("argparse", "Namespace")),
		`key "g": key "args": an object of argparse.Namespace stands among the tensors; it is not opened; ` +
			adviceTensors: dict("g", dict("args", object("argparse", "Namespace"))),
		"h": dict("h", of(2), "text", strings.Repeat("x", 256)),
		`key "text": a string stands among the tensors`: dict("text", strings.Repeat("x", 257)),
		long: dict(long, of(2)),
		"a key of 1025 bytes; want UTF-8 of 1 to 1024 bytes": dict(long+"x", of(2)),
		`key "twice": key "again": a dict that occurs twice`: func() *pickle.Dict {
			d := dict()
			d.Entries = dict("again", d).Entries
			return dict("twice", d)
		}(),
	} {
		if got := collected(root); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

// TestReadable lists the values that --key accepts, without walking in circles.
func TestReadable(t *testing.T) {
	foreignObject := object("mine", "Config")
	circle := dict("object", foreignObject)
	circle.Entries = append(circle.Entries, dict("a", circle, "b", circle, "c", circle, "d", circle).Entries...)
	for want, root := range map[string]*pickle.Dict{
		"":         dict("model", dict("w", of(2), "cfg", foreignObject), "optimizer", network()),
		"netB":     dict("model", dict("w", of(2), "cfg", foreignObject), "netB", network()),
		"m.inner":  dict("m", dict("inner", network(), "cfg", foreignObject)),
		"x":        dict("circle", circle, "x", network(), "object", foreignObject),
		wholeKey:   network(),
		"p, p.q.r": dict("object", foreignObject, "p", network(), "p.q", dict("r", network(), "o", foreignObject)),
	} {
		began := time.Now()
		if got := strings.Join(readable(root), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%q took %v", want, took)
		}
	}
}

// TestEntriesOf accepts dicts in all ways of pickling them, and nothing else.
func TestEntriesOf(t *testing.T) {
	pairs := &pickle.List{Items: []any{pickle.Tuple{"a", of(1)}, &pickle.List{Items: []any{"b", of(1)}},
		pickle.Tuple{"c"}, pickle.Tuple{"d", of(1), of(1)}, "e"}}
	for _, c := range []struct {
		v    any
		keys string
		ok   bool
	}{
		{dict("a", of(1)), "a", true},
		{object("collections", "OrderedDict", pairs), "a b", true},
		{object("collections", "OrderedDict", pairs, pairs), "", true},
		{object("collections", "defaultdict"), "", true},
		{object("collections", "Counter"), "", true},
		{object("collections", "deque"), "", false},
		{object("mine", "OrderedDict"), "", false},
		{object("mine", "defaultdict"), "", false},
		{"text", "", false},
	} {
		entries, ok := entriesOf(c.v)
		if got := strings.Join(names(entries), " "); got != c.keys || ok != c.ok {
			t.Errorf("%v: keys %q, %v, want %q, %v", c.v, got, ok, c.keys, c.ok)
		}
	}
}

// TestClassName: for a function that makes an object of the class in its argument,
// className returns that class.
func TestClassName(t *testing.T) {
	class := pickle.Global{Module: "mine", Name: "Config"}
	for want, c := range map[string]*pickle.Call{
		"mine.Config":             object("copyreg", "_reconstructor", class),
		"mine.Make":               object("mine", "Make", class),
		"copyreg.__newobj__":      object("copyreg", "__newobj__"),
		"copy_reg._reconstructor": object("copy_reg", "_reconstructor", "no class"),
	} {
		if got := className(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := className(object("copy_reg", "_reconstructor", class)); got != "mine.Config" {
		t.Errorf("Python 2: %s", got)
	}
}
