// Package inspect describes a file that holds a model, a checkpoint or a graph, of bnctl or
// of another program: layers, parameters, batch norm statistics, the recipe, and the parts
// that only training needs. It changes nothing.
//
// Use File to describe a file to a person or in JSON. Package doctor checks the health of
// its statistics; modelfile opens the model itself.
package inspect
