// Package train runs recipes: it trains a model on data and devices, and the
// same recipe gives the same template, bit for bit.
//
// Use it when package bnctl's Train does too little: with devices of your own,
// to act between epochs, or to evaluate models and re-estimate their
// statistics.
//
// A Recipe has everything that determines the result (DefaultRecipe, SetModel,
// SetData, Check). A Config says where and how the recipe is run, and never
// changes the result. New and Resume make a Session of both; Session.Run trains
// to the end.
//
// # What a session is made of
//
// Recipe and model determine a plan, before any device is used: learning-rate
// schedule, wrapped graph, program. A trainer makes the steps, each of which succeeds
// or fails as a whole, and holds what a step changes: weights, running statistics,
// progress. There are three ways of keeping weights (gradients summed in each step,
// stale gradients, weights of each replica's own) and three of keeping statistics
// (updated in each step, late, or by each replica); all can be saved in a checkpoint.
// A checkpointer is what remains of a run that cannot go on: a checkpoint in a file,
// or the last one kept in memory when all devices are lost. The session itself reads
// data, evaluates after epochs and reports events (Event).
//
// With Config.Peers a session is one rank of several: see package fabric.
package train
