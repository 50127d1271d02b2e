// Package graph is the language that models and devices share: a closed table
// of operations, functions made of them, and programs made of functions.
//
// Use a Builder for a model of your own; package models makes those of the zoo,
// and a Model of any graph.
//
// A Graph is one function over a table of state tensors: it is what a model
// is. A Program is several functions (train, commit, predict) over one table:
// it is what crosses the border to a device. Both have one text form, which is
// also the form in which containers keep them and people write them: see
// Graph.Text and ParseGraph.
//
// Every value has a Kind, which says how it relates to the replicas, a data
// type and a shape. The shape never contains the axis of rows or of replicas:
// a batch of 32 images is a value rows u8[28,28,1].
//
// A Builder makes functions and checks every node as it is added. What comes
// from outside is checked by ParseGraph, ParseProgram or Check. Functions are
// then rewritten: Gradient appends the backward pass, Eval takes away what only
// training needs, Prune what nothing needs, Decompose the operations that a
// device lacks. A function, once made, is not changed by anyone; rewrites and
// Extend start from a copy.
package graph
