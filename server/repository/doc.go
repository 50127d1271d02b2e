// Package repository finds the files of models and their versions: a file by
// itself, or in a folder FOLDER/NAME/VERSION/model.bnm and FOLDER/NAME.bnm. It
// reads folders, never the files.
//
// Use it to serve a folder of models that changes.
//
// A Watch says what is there, what a Policy takes of it, and which files have
// held still since it looked before, so that none is read that is still
// written. There is no notification: a caller that wants to know looks again.
package repository
