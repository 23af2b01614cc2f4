package patcher

// Assign copies *src to *dst, shallowly. Generated code calls it instead of writing the assignment, which vet reports for types
// that hold a lock: those with protobuf messages. The runtime assigns from an object that it has just read and then drops, so
// no lock is shared.
func Assign[V any](dst, src *V) { *dst = *src }
