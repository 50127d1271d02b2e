package recipe

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/parallel"
)

// A difference in any field is found and named. The only exception is that epochs may grow if the
// schedule does not depend on their number.
func TestDifferences(t *testing.T) {
	was := exampleRecipe(42)
	typ := reflect.TypeOf(was)
	for i := range typ.NumField() {
		was := was
		if name := typ.Field(i).Name; name == "Numbers" || name == "Classes" {
			was.Numbers = []string{"order/1"} // recipes without numbers are compared by their releases
		}
		now := was
		f := reflect.ValueOf(&now).Elem().Field(i)
		switch f.Kind() {
		case reflect.Int:
			f.SetInt(f.Int() + 1)
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		case reflect.Float64:
			f.SetFloat(f.Float() + 1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.String:
			f.SetString(f.String() + "x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			if f.Type() == reflect.TypeFor[augmentation.Augmentation]() {
				f.Set(reflect.ValueOf(augmentation.CIFAR()))
			} else {
				f.Field(0).SetString("x")
			}
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			t.Fatalf("field %s has the kind %v", typ.Field(i).Name, f.Kind())
		}
		got := now.Differences(&was)
		want, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if len(got) != 1 || got[0].Field != want {
			t.Errorf("%s changed: differences %v, want one of %s", typ.Field(i).Name, got, want)
		}
	}
	for schedule, want := range map[string]int{"constant": 0, "step:1": 0, "cosine": 1} {
		now, before := was, was
		now.Schedule, before.Schedule = schedule, schedule
		now.Epochs++
		if got := now.Differences(&before); len(got) != want {
			t.Errorf("%s: more epochs give %v", schedule, got)
		}
		if got := before.Differences(&now); len(got) != 1 {
			t.Errorf("%s: fewer epochs give %v", schedule, fmt.Sprint(got))
		}
	}
	for _, test := range []struct {
		name   string
		change func(was, now *Recipe)
		want   int
	}{
		{"steps", func(was, now *Recipe) { was.Epochs, was.Steps, now.Epochs, now.Steps = 0, 4, 0, 7 }, 0},
		{"steps, saved by figure", func(was, now *Recipe) {
			was.Epochs, was.Steps, now.Epochs, now.Steps = 0, 4, 0, 7
			was.Save, now.Save = "best:loss", "best:loss"
		}, 1},
		{"evaluated otherwise", func(was, now *Recipe) {
			was.EvalEvery, now.EvalEvery, now.Epochs, was.Patience, now.Patience = 3, 3, 4, 1, 1
		}, 1},
	} {
		was, now := was, was
		was.Schedule, now.Schedule = "constant", "constant"
		test.change(&was, &now)
		if got := now.Differences(&was); len(got) != test.want || len(got) > 0 && got[0].Why == "" {
			t.Errorf("%s: differences %v, want %d with a reason", test.name, got, test.want)
		}
	}
}

// A run cannot become longer if completed steps depend on its end. The exception is an end that is the end
// of an epoch in the longer run, too.
func TestWhatMayBecomeLonger(t *testing.T) {
	for _, c := range []struct {
		change func(*Recipe)
		fixed  bool
	}{
		{func(r *Recipe) {}, false}, {func(r *Recipe) { r.Save = "best:loss" }, false},
		{func(r *Recipe) { r.Schedule = "cosine" }, true}, {func(r *Recipe) { r.Schedule = "poly" }, true},
		{func(r *Recipe) { r.Epochs, r.Steps, r.Save = 0, 4, "best:loss" }, true},
		{func(r *Recipe) { r.Epochs, r.Steps, r.Patience = 0, 4, 1 }, true},
		{func(r *Recipe) { r.Epochs, r.Steps = 0, 4 }, false},
		{func(r *Recipe) { r.Epochs, r.Steps, r.Save = 0, 6, "best:loss" }, false},
		{func(r *Recipe) { r.Save, r.EvalEvery = "best:loss", 2 }, false},
		{func(r *Recipe) { r.Save, r.EvalEvery = "best:loss", 3 }, true},
		// The samples do not fill a batch, and Drop leaves them out, so that no epoch has a step:
		{func(r *Recipe) { r.Tail, r.Data.Samples, r.Save = parallel.Drop, 5, "best:loss" }, true},
	} {
		r := exampleRecipe(42)
		r.Schedule = "constant"
		c.change(&r)
		if got := r.endIsFixed(); (got != "") != c.fixed {
			t.Errorf("%s: %q", r.JSON(), got)
		}
	}
	d := Difference{Field: "epochs", Have: "3", Want: "2"}
	if d.String() != "epochs is 3, was 2" {
		t.Errorf("%s", d)
	}
	if d.Why = "so"; d.String() != "epochs is 3, was 2 (so)" {
		t.Errorf("%s", d)
	}
	was := exampleRecipe(42)
	was.Schedule = "constant"
	now := was
	now.Epochs, now.Steps, was.Epochs, was.Steps = 3, 0, 0, 4
	if got := now.Differences(&was); len(got) != 2 {
		t.Errorf("epochs instead of steps: %v", got)
	}
}
