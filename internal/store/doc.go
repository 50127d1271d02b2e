// Package store transports files from and to other machines: over HTTPS, the Hugging Face hub, S3 and
// its compatible servers, Google Cloud Storage, and OCI registries. It knows URLs and bytes, and
// no file formats.
//
// A file is fetched into a cache in the folder of the user, by its SHA-256, and opened from there. Two
// processes that need the same file fetch it once. A download that was cut continues where it ended.
// The content of a URL stays the same during the life of a Store: later versions on the server are
// seen by the next program.
//
// Nothing is fetched unless a URL names it, and nothing at all with Options.Offline. Errors and notes
// never contain credentials: URLs are shown without user names, passwords and query strings.
package store
