// Package caffe reads .caffemodel files. Each is a NetParameter message with the layers,
// their connections and their weights.
//
// Use it for files that are known to come from Caffe; package formats accepts files of any
// format.
//
// Caffe stores a batch norm in two layers: BatchNorm has statistics that are sums, to be
// divided by its third blob, and Scale has gamma and beta. The reader makes one batch norm
// of the two. Layers that feed, measure or train a network are left out. The numbers of
// fields come from caffe.proto.
package caffe
