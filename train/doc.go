// Package train runs recipes: it trains a model on data and devices, and the same recipe
// gives the same template, bit for bit.
//
// Use it when package bnctl's Train is not enough: with custom devices, or to act between epochs. Package
// evaluation evaluates models without training, and its package estimation re-estimates their statistics.
//
// A recipe.Recipe has everything that determines the result. A Config determines where and how
// the recipe is run, and never changes the result. New and Resume make a Session from both;
// Session.Run trains to the end.
//
// # Parts of a session
//
// A plan is derived from recipe and model before any device is used: learning-rate schedule, wrapped graph,
// program. A trainer makes the steps. Each step succeeds or fails as a whole. The trainer holds the state
// that a step changes: weights, running statistics, progress. There are three ways of keeping weights
// (gradients summed in each step, stale gradients, separate weights for each replica) and three ways of
// keeping statistics (updated in each step, late, or by each replica). Checkpoints can store all of them. If
// a run cannot continue, the checkpointer writes a checkpoint file. If all devices are lost, it writes the
// last checkpoint that it has kept in memory. The session itself reads data, evaluates after epochs and
// reports events (Event).
//
// With Config.Peers a session is one rank of several: see package fabric.
package train
