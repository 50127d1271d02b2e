package keras

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checkKeys rejects a configuration with an unknown key or an unsupported value.
func (l *layer) checkKeys() error {
	k := kinds[l.class]
	f := &fields{m: l.fields.m}
	for _, key := range slices.Sorted(maps.Keys(f.m)) {
		only, limited := k.required[key]
		if !limited {
			only, limited = everywhere.required[key]
		}
		switch {
		case limited:
			f.refuse(key, only.value, only.asks+" are not supported")
		case !k.knows(key) && !everywhere.knows(key):
			return fmt.Errorf("the key %.80q, which is %.80s, is not one that bnctl knows of this layer: "+
				"docs/formats.md lists those", key, f.m[key])
		}
	}
	f.bool("trainable", true)
	f.text("name", "")
	if err := f.checkType(l.class == "InputLayer"); err != nil {
		return err
	}
	return f.err
}

func (k layerKind) knows(key string) bool {
	return slices.Contains(strings.Fields(k.reads), key) || slices.Contains(strings.Fields(k.ignores), key)
}

// The types that a layer may compute in are all types of floats; the graph always computes
// in f32. An input may also have a type of integers, which become floats.
const (
	floatTypes = "float16 bfloat16 float32 float64 mixed_float16 mixed_bfloat16 infer _infer"
	inputTypes = " uint8 int8 int16 int32 int64 bool"
)

// checkType rejects a dtype that would change the results of the layer: integers, text, and
// policies that quantise. A dtype is a name, or an object of a policy with a name.
func (f *fields) checkType(input bool) error {
	if !f.has("dtype") {
		return nil
	}
	known := floatTypes
	if input {
		known += inputTypes
	}
	var name string
	var policy struct {
		Class  string `json:"class_name"`
		Config struct {
			Name string `json:"name"`
		} `json:"config"`
	}
	raw := f.m["dtype"]
	if json.Unmarshal(raw, &name) != nil {
		of := "Policy PolicyV1 DTypePolicy FloatDTypePolicy"
		if json.Unmarshal(raw, &policy) == nil && slices.Contains(strings.Fields(of), policy.Class) {
			name = policy.Config.Name
		}
	}
	if !slices.Contains(strings.Fields(known), name) {
		return fmt.Errorf("dtype is %.120s: want one of %s", raw, known)
	}
	return nil
}

// checkMaker rejects a layer that belongs to a package other than Keras, even if a layer of
// Keras has the same name.
func (d *layerConfig) checkMaker() error {
	top, _, _ := strings.Cut(d.Module, ".")
	owner, _, owned := strings.Cut(d.Registered, ">")
	switch {
	case d.Module != "" && !slices.Contains([]string{"keras", "tf_keras", "tensorflow", "builtins"}, top):
		return fmt.Errorf("it is a class of the module %.80q, not one of Keras", d.Module)
	case owned && owner != "keras":
		return fmt.Errorf("it is registered as %.80q, not a class of Keras", d.Registered)
	}
	return nil
}
