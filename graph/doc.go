// Package graph is the representation of networks that models and devices share: a closed
// table of operations, functions made of them, and programs made of functions.
//
// Use a Builder to make the graph of your model. models.New makes a Model of a graph,
// models.Build one of the zoo.
//
// A Graph is one function over a table of state tensors: the network of a model. A Program
// has several functions (train, commit, predict) over one table: it is the unit that a
// device loads. Both have one text form, which people write and files store: see Graph.Text
// and ParseGraph.
//
// A training step divides its batch into replicas, shares of the rows. Every value has a
// Kind, which is its relation to the replicas, a data type and a shape. The shape never
// contains the axis of rows or of replicas: a batch of 32 images is a value rows
// u8[28,28,1].
//
// A Builder makes functions and checks every node as it is added. ParseGraph, ParseProgram
// and Check check functions from elsewhere. Several functions rewrite them: Gradient
// appends the backward pass, Eval removes the nodes that only training needs, Prune removes
// those that no output needs, and Decompose replaces the operations that a device lacks. A
// finished function never changes; rewrites and Extend start from a copy.
package graph
