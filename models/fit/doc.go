// Package fit matches models and data. Use Model for the form of a model that fits the
// samples of a data source, Zoo for a new model of the zoo that fits a source, and Arrays
// to make samples for a model from the arrays in .npy files.
//
// It never guesses: unknown preprocessing is an error, and an array with two possible
// meanings is refused with a description of the valid ones. It does not read files: package
// modelfile opens models, package data opens sources.
package fit
