// Package fit is where a model meets data. Use Model for the form of a model that takes
// the samples of a data source, Zoo for a new model of the zoo that fits a source, and
// Arrays for samples that a model takes, made of the arrays in .npy files.
//
// Nothing is guessed: preprocessing that is not known is not made up, and an array that
// may mean two things is refused, with what would be accepted. It knows no files: package
// modelfile opens a model, package data a source.
package fit
