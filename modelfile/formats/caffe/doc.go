// Package caffe reads .caffemodel files. Such a file is a NetParameter message,
// which holds the layers, their connections and their weights.
//
// Use it where a file is known to be of Caffe; package formats takes files of
// any format.
//
// Caffe keeps a batch norm in two layers: BatchNorm, whose statistics are sums
// that its third blob divides, and Scale, which has gamma and beta. The reader
// makes one batch norm of the two. Layers that feed, measure or train a network
// are left out. The numbers of fields are those of caffe.proto.
package caffe
