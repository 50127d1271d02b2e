package pickle

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// show formats a value for the tests.
func show(v any) string {
	var parts []string
	each := func(items []any) string {
		for _, item := range items {
			parts = append(parts, show(item))
		}
		return strings.Join(parts, " ")
	}
	switch v := v.(type) {
	case *List:
		return "[" + each(v.Items) + "]"
	case *Set:
		return "{" + each(v.Items) + "}"
	case Tuple:
		return "(" + each(v) + ")"
	case *Dict:
		for _, e := range v.Entries {
			parts = append(parts, show(e.Key)+": "+show(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *Call:
		return show(v.Func) + show(v.Args) + show(&v.Items) + show(&v.List)
	case string:
		return fmt.Sprintf("%q", v)
	case Bytes:
		return fmt.Sprintf("b%q", string(v))
	case *big.Int:
		return v.String() + "L"
	}
	return fmt.Sprint(v)
}

// TestLoad reads the output of Python's pickle.dumps(value, protocol).
func TestLoad(t *testing.T) {
	for _, c := range []struct{ what, pickle, want string }{
		{"[0, 255, 65535, -1, 2**31-1, -2**31], protocol 2",
			"\x80\x02]q\x00(K\x00K\xffM\xff\xffJ\xff\xff\xff\xffJ\xff\xff\xff\x7fJ\x00\x00\x00\x80e.",
			"[0 255 65535 -1 2147483647 -2147483648]"},
		{"[2**40, -2**40, 2**70, -2**70, -128, 255 << 40], protocol 5",
			"\x80\x05\x95>\x00\x00\x00\x00\x00\x00\x00]\x94(\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff" +
				"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xc0J\x80\xff\xff\xff" +
				"\x8a\x07\x00\x00\x00\x00\x00\xff\x00e.xxxxxxxxxx",
			"[1099511627776 -1099511627776 1180591620717411303424L -1180591620717411303424L -128 280375465082880]"},
		{"[0.5, -1e300]", "\x80\x02]q\x00(G?\xe0\x00\x00\x00\x00\x00\x00G\xfe7\xe4<\x88\x00u\x9ce.",
			"[0.5 -1e+300]"},
		{"[2**40, -5, True, False], as Python 2 writes them", "\x80\x02](I1099511627776\nI-5\nI01\nI00\ne.",
			"[1099511627776 -5 true false]"},
		{"[1, -5, 2**70, True, False, None, 0.5, -1e300, inf, 'a\\nb\\\\ä€', '', {'a': (1, 2)}, (1,)], protocol 0",
			"(lp0\nI1\naI-5\naL1180591620717411303424L\naI01\naI00\naNaF0.5\naF-1e+300\naFinf\naVa\\u000ab\\u005c" +
				"\xe4\\u20ac\np1\naV\np2\na(dp3\nVa\np4\n(I1\nI2\ntp5\nsa(I1\ntp6\na.",
			`[1 -5 1180591620717411303424L true false <nil> 0.5 -1e+300 +Inf "a\nb\\ä€" "" {"a": (1 2)} (1)]`},
		{"the same, protocol 1", "]q\x00(K\x01J\xfb\xff\xff\xffL1180591620717411303424L\nI01\nI00\nN" +
			"G?\xe0\x00\x00\x00\x00\x00\x00G\xfe7\xe4<\x88\x00u\x9cG\x7f\xf0\x00\x00\x00\x00\x00\x00" +
			"X\t\x00\x00\x00a\nb\\\xc3\xa4\xe2\x82\xacq\x01X\x00\x00\x00\x00q\x02}q\x03X\x01\x00\x00\x00aq\x04" +
			"(K\x01K\x02tq\x05s(K\x01tq\x06e.",
			`[1 -5 1180591620717411303424L true false <nil> 0.5 -1e+300 +Inf "a\nb\\ä€" "" {"a": (1 2)} (1)]`},
		{`'it\'s\n\x00\xff\\ "' as Python 2 writes it`, "S'it\\'s\\n\\x00\\xff\\\\ \"'\np0\n.", `"it's\n\x00\xff\\ \""`},
		{"an instance of an old class", "(S'x'\nI7\nimine\nOld\np0\n(dp1\nS'lr'\np2\nF0.1\nsb.", `mine.Old("x" 7){}[]`},
		{"the same, protocol 1", "(cmine\nOld\nU\x01xK\x07oq\x00}q\x01U\x02lrG?\xb9\x99\x99\x99\x99\x99\x9asb.",
			`mine.Old("x" 7){}[]`},
		{"what was put is got", "]p12\n2g12\n\x87.", "([] [] [])"},
		{"[None, True, False]", "\x80\x02]q\x00(N\x88\x89e.", "[<nil> true false]"},
		{"text", "\x80\x05\x95\x0d\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x00\x94\x8c\x02\xc3\xa4\x94e.",
			`["" "ä"]`},
		{"bytes, protocol 2", "\x80\x02c_codecs\nencode\nq\x01X\x02\x00\x00\x00abq\x02X\x06\x00\x00\x00latin1q\x03\x86q\x04Rq\x05.",
			`_codecs.encode("ab" "latin1"){}[]`},
		{"bytes, protocol 5", "\x80\x05C\x02ab\x94.", `b"ab"`},
		{"tuples", "\x80\x02]q\x00()K\x01\x85q\x01K\x01K\x02\x86q\x02K\x01K\x02K\x03\x87q\x03(K\x01K\x02K\x03K\x04tq\x04e.",
			"[() (1) (1 2) (1 2 3) (1 2 3 4)]"},
		{"dict", "\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x01X\x01\x00\x00\x00bq\x02]q\x03K\x02aK\x03X\x01\x00\x00\x00cq\x04u.",
			`{"a": 1, "b": [2], 3: "c"}`},
		{"a key set again", "}K\x01K\x02sK\x03K\x04sK\x01K\x05s.", "{1: 5, 3: 4}"},
		{"set, protocol 5", "\x80\x05\x95\x07\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x07\x90.", "{7}"},
		{"frozenset, protocol 5", "\x80\x05\x95\x06\x00\x00\x00\x00\x00\x00\x00(K\x07\x91\x94.", "{7}"},
		{"OrderedDict, protocol 2", "\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01X\x01\x00\x00\x00aq\x02K\x01s.",
			`collections.OrderedDict(){"a": 1}[]`},
		{"OrderedDict, protocol 5", "\x80\x05\x95)\x00\x00\x00\x00\x00\x00\x00\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94\x8c\x01a\x94K\x01s.",
			`collections.OrderedDict(){"a": 1}[]`},
		{"shared", "\x80\x05\x95\x0e\x00\x00\x00\x00\x00\x00\x00]\x94(]\x94\x8c\x01s\x94ah\x01e.", `[["s"] ["s"]]`},
		{"what a recursive tuple leaves", "\x80\x02(K\x01K\x02" + "1" + "K\x03.", "3"},
		{"an object outside", "\x80\x02U\x02idQ.", `"outside"`},
	} {
		r := NewReader(strings.NewReader(c.pickle), int64(len(c.pickle)), 1<<20)
		r.Persistent = func(any) (any, error) { return "outside", nil }
		v, err := r.Load()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if got := show(v); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
}

func TestLoadGoesOn(t *testing.T) {
	const two = "\x80\x02K\x01.\x80\x02K\x02.rest"
	r := NewReader(strings.NewReader(two), int64(len(two)), 1<<20)
	for want := int64(1); want <= 2; want++ {
		if v, err := r.Load(); err != nil || v != want {
			t.Errorf("got %v, %v, want %d", v, err, want)
		}
	}
	if got := r.Offset(); got != 10 {
		t.Errorf("the second pickle ends at offset %d, want 10", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x01X\x01\x00\x00\x00bq\x02]q\x03K\x02au."))
	f.Add([]byte("\x80\x05\x95)\x00\x00\x00\x00\x00\x00\x00\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94\x8c\x01a\x94K\x01s."))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(strings.NewReader(string(b)), int64(len(b)), 1<<20)
		v, err := r.Load()
		if err == nil && Describe(v) == "" {
			t.Error("a value without a description")
		}
		if got := r.Offset(); got > int64(len(b)) {
			t.Errorf("offset %d of %d", got, len(b))
		}
	})
}
