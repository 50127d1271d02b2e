// Package suppress removes detections that overlap a better detection of the same class:
// non-maximum suppression.
//
// Use Classwise for the boxes of one picture, and ONNX for the operator NonMaxSuppression of
// graphs. Both are defined to the bit: boxes and scores are float32 and every step is rounded to
// float32. Candidates are visited from the highest score to the lowest, and of equal scores the
// lower index comes first. A candidate is removed if its overlap with a selected box is greater
// than the threshold. A NaN score is never a candidate, and a box without an area overlaps
// nothing.
package suppress
