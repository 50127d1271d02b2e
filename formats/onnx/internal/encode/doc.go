// Package encode writes a model of package models as the message of an ONNX file: one node or a few for each
// operation of the graph. model.go makes the message, operations.go has the table of the operations.
package encode
