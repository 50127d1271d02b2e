// Package train runs recipes: it trains a model on data and devices, and the
// same recipe gives the same template, bit for bit.
//
// Use it when package bnctl's Train is too little: for devices of your own, for
// what is between two epochs, for evaluation and re-estimated statistics.
//
// A Recipe is all that determines the result (DefaultRecipe, SetModel, SetData,
// Check); a Config says where it runs and changes nothing. New and Resume make
// a Session of both, Run trains to the end.
//
// # What a session is made of
//
// A plan follows from recipe and template before any device has them: schedule,
// wrapped graph, program. A trainer makes the steps, each a transaction, and has
// what a step changes: weights, running statistics, progress. Weights are kept
// in one of three ways (summed, late, local), statistics in one of three too
// (each step, late, by each replica); both know how to be part of a checkpoint.
// A rescue is what a run leaves that cannot go on: a checkpoint in a file, or
// the last one kept in memory when all devices are lost. The session itself
// reads data, evaluates after epochs and tells what happens (Event).
//
// With Config.Peers a session is one rank of several: see package fabric.
package train
