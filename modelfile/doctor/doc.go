// Package doctor finds faults that prevent a model from predicting properly, in models and
// in files without a graph: values that are not finite, and batch norm statistics that are
// impossible, were never updated, or are missing. It repairs statistics by estimating them
// again over data.
//
// Use Examine for a file, Diagnose for a model in memory, and Diagnosis.Attach for tensors
// while they are copied from one file to another. Repair and RepairFile estimate statistics
// again; they never change weights.
//
// Package bn defines the findings and the criteria of health.
package doctor
