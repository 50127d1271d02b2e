// Package doctor finds faults that keep a model from predicting properly, in
// models and in files without a graph: values that are not finite, batch norm
// statistics that cannot be right, that were never updated, or that are
// missing. It repairs statistics by estimating them again over data.
//
// Use Examine for a file, Diagnose for a model in memory, and Diagnosis.Attach for
// tensors while they are copied from one file to another. Repair and RepairFile
// estimate statistics again; they never change weights.
//
// Package bn defines the findings, and what is healthy.
package doctor
