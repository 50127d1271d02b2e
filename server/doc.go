// Package server answers inference requests for models over HTTP, in the Open Inference Protocol, version 2.
// Its answers have the same bits as package predict. Requests that arrive while the devices compute are
// collected into the next batch. This does not change any answer.
//
// Use it to serve models over the network, from a command or inside your program: Open loads the models and
// listens, and Serve answers requests until its context ends and all accepted requests are answered. For
// predictions in the same process use package predict.
//
// Package server/internal/protocol has the bodies of requests and answers, and server/internal/batching the
// queue.
package server
