// Package storage is how packages keep what they know in Caddy's storage.
//
// A [Place] is the storage of a configuration, for as long as something can be stored there.
// [Await] returns an answer in time, or none. The package imports nothing of the module.
package storage
