package commandline

import (
	"flag"
	"reflect"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		text  string
		one   []int
		named map[string][]int
		bad   bool
	}{
		{"3,224,224", []int{3, 224, 224}, nil, false},
		{"3, 224", []int{3, 224}, nil, false},
		{"image=3,8,9,state=64", nil, map[string][]int{"image": {3, 8, 9}, "state": {64}}, false},
		{"a=b=2,rate=", nil, map[string][]int{"a=b": {2}, "rate": {}}, false},
		{"", nil, nil, true}, {"3,", nil, nil, true}, {"0", nil, nil, true}, {"x", nil, nil, true},
		{"a=x", nil, nil, true}, {"a=1,a=2", nil, nil, true}, {"3,a=2", nil, nil, true}, {"=3", nil, nil, true},
	} {
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.String("input", "", "")
		if err := set.Parse([]string{"-input", c.text}); err != nil {
			t.Fatal(err)
		}
		one, named, err := Shapes(cli.NewContext(cli.NewApp(), set, nil), "input")
		if (err != nil) != c.bad || !reflect.DeepEqual(one, c.one) || !reflect.DeepEqual(named, c.named) {
			t.Errorf("%q: %v %v %v, want %v %v", c.text, one, named, err, c.one, c.named)
		}
	}
}
