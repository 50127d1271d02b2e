// Package server answers inference requests for models, with the same bits as
// package predict: over HTTP in the Open Inference Protocol, version 2.
// Requests that arrive while the devices compute form the next batch, which
// changes no answer.
//
// Use it to serve models over the network, from a command or inside your
// program: Open loads the models and listens, and Serve answers requests
// until its context ends and all accepted requests are answered. For
// predictions in the same process use package predict.
//
// Package server/internal/protocol has the bodies of requests and answers, and
// server/internal/batching the queue.
package server
