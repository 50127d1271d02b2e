// Package strip makes one clean file of any training checkpoint, of bnctl or
// of another program, and says what it removed: replica connections, wrappers,
// optimizer tensors, averages, other sets of statistics. Weights come out as
// they went in.
//
// The ending of the output picks the form. A template (.bnm) needs the
// architecture, which is found in the zoo or named; .pth and .safetensors keep
// names, order and types, and need none.
//
// Use Files for files. A checkpoint in memory is stripped by serialize.Strip, a
// file that is to be used at once by modelfile.Open.
package strip
