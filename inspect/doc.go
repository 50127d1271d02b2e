// Package inspect says what is in a file that holds a model, a checkpoint or a
// graph, of bnctl or of another program: layers, parameters, batch norm
// statistics, the recipe, and what only training needs. It changes nothing.
//
// Use File to describe a file to a person or in JSON. Package doctor says
// whether what is in it is as it should be; modelfile opens the model itself.
package inspect
