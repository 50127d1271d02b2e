package main

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/recipefile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// TestRecipeOfATemplate: every field of a recipe is either an option of train or known not to be one. So
// --recipe can read the template of every training.
func TestRecipeOfATemplate(t *testing.T) {
	var r recipe.Recipe
	for v, i := reflect.ValueOf(&r).Elem(), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(1)
		case reflect.Float64:
			f.SetFloat(1)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
	}
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.bnm")
	m.Recipe = r.JSON()
	if _, err = serialize.WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	f, err := recipefile.Read(path)
	if err != nil || len(f.Recipe) < 30 {
		t.Fatal(f.Recipe, err)
	}
	var known []string
	for _, flag := range recipeFlags() {
		known = append(known, flag.Names()...)
	}
	for name := range f.Recipe {
		if !slices.Contains(known, name) {
			t.Errorf("%s is no option", name)
		}
	}
}
