// Package outputs holds the output tests of the generator: below it, each directory has API types, what is generated of them,
// checked in, and a test of how that behaves. TestOutputs generates them again and compares.
package outputs
