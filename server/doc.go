// Package server answers inference requests for models, with the bits that
// package predict gives: over HTTP in the Open Inference Protocol, version 2.
// Requests that arrive while the devices compute form the next batch, which
// changes no answer.
//
// Use it to serve models over the network, from a command or inside a program
// of your own: Open loads the models and listens, and Serve answers requests
// until its context ends and everything that was accepted is answered. For
// predictions in the same process use package predict.
//
// Package server/internal/protocol has the bodies of requests and answers,
// server/internal/batching the queue.
package server
