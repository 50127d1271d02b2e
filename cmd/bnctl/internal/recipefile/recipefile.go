// Package recipefile reads the options of a training from a YAML file. Each option has the same name and the
// same value as on a command line.
package recipefile

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// File has options by name, with values in the form of a command line. Recipe has the options that determine
// the result, and Run all other options.
type File struct {
	Recipe, Run map[string]string
}

// Read reads a File in YAML, of at most 64 KiB: one document with the maps recipe and run. The error is a
// *problem.Error for YAML features that recipes do not need, for example aliases. If path is a template or a
// checkpoint, Read returns the options of its recipe.
func Read(path string) (f File, err error) {
	if isModel(path) {
		return ofModel(path)
	}
	text, err := regular.Read(path, maxBytes)
	if err != nil {
		return f, problem.Failure("recipe", err.Error(), "").Because(err)
	}
	if err = bounded(text); err == nil {
		err = f.parse(text)
	}
	if err != nil {
		return f, &problem.Error{Text: path + ": " + err.Error(), Err: err}
	}
	return f, nil
}

func (f *File) parse(text []byte) error {
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	fields, ok := document.(map[string]any)
	if !ok && document != nil {
		return problem.Advise("write recipe: and run:, and options below them", "it is %s", kindOf(document))
	}
	for name, options := range fields {
		var target *map[string]string
		switch name {
		case "recipe":
			target = &f.Recipe
		case "run":
			target = &f.Run
		default:
			return problem.Advise("write options below recipe: or run:", "unknown field %q", name)
		}
		var err error
		if *target, err = texts(options); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// texts returns the options of one part of the file, with their values as text.
func texts(object any) (map[string]string, error) {
	options, ok := object.(map[string]any)
	if !ok && object != nil {
		return nil, problem.Advise("write options below it, as in epochs: 3", "it is %s", kindOf(object))
	}
	out := map[string]string{}
	for name, v := range options {
		text, err := textOf(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = text
	}
	return out, nil
}

// textOf returns a value, or a list of values, in the form of a command line.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", problem.Advise("write one, or leave the key out", "it has no value")
	case map[string]any:
		return "", problem.Advise("write one word or number, or a list of them", "it is a map")
	case []any:
		var items []string
		for _, x := range v {
			if _, ok := x.([]any); ok {
				return "", problem.Advise("write one list", "it is a list of lists")
			}
			text, err := textOf(x)
			if err != nil {
				return "", err
			}
			items = append(items, text)
		}
		return strings.Join(items, ","), nil
	}
	return fmt.Sprint(v), nil
}

// kindOf describes a value that is not a map, although it should be one.
func kindOf(v any) string {
	if _, ok := v.([]any); ok {
		return "a list, not a map of options"
	}
	return fmt.Sprintf("%.40q, not a map of options", fmt.Sprint(v))
}

// Boolean replaces the words of YAML 1.1 that mean true or false by "true" and "false". Other text is
// unchanged.
func Boolean(text string) string {
	switch text {
	case "yes", "Yes", "YES", "on", "On", "ON", "y", "Y":
		return "true"
	case "no", "No", "NO", "off", "Off", "OFF", "n", "N":
		return "false"
	}
	return text
}
