// Package wasm tests predictions in WebAssembly. The bnctl command, package inprocess in a process, wazero
// (wasip1) and headless Chromium must give equal outputs. make test-wasm and make test-page run the tests.
// The package is a separate module, because bnctl itself does not import wazero.
package wasm
