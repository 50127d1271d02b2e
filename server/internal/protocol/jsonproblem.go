package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// JSONProblem returns an error of encoding/json as an error with a text that does not name Go's types.
func JSONProblem(err error) error {
	var refused *Refusal
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &wrong):
		got, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("%s is a JSON %s, want %s", fieldName(wrong.Field), got, jsonKind(wrong.Type))
	}
	return err
}

// fieldName returns the name of a field of the request, for an error message.
func fieldName(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// jsonKind describes the JSON values that fit a Go type: "a number", "a list of numbers".
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	}
	return "a number"
}
