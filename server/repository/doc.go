// Package repository finds the files of models and their versions: a file by
// itself, or in a folder FOLDER/NAME/VERSION/model.bnm and FOLDER/NAME.bnm. It
// reads folders, never the files.
//
// scan says what is there and what a Policy takes of it. A Watch says which
// files have held still since it looked before, so that none is read that is
// still written. There is no notification: who wants to know looks again.
package repository
