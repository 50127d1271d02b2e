// Package repository finds the files of models and their versions. A path may be a single file, a folder of
// models with FOLDER/NAME/VERSION/model.bnm and FOLDER/NAME.bnm, or the folder FOLDER/NAME of one model. A
// version may also be a model.onnx, or a file of another kind under the name that Triton uses for it. The
// package reads folders, never the files.
//
// Use it to serve a folder with models that change.
//
// Watch.Scan returns the files of the versions that a Policy selects. It marks files that are
// unchanged since the last scan, so that the caller reads no file that is still being written.
// There is no notification: the caller scans at intervals.
package repository
