package patcher

// Assign copies *src to *dst, shallowly. Generated code calls it instead of writing the assignment, which vet reports for types
// that hold a lock, as those with protobuf messages do. The lock of a message guards nothing that outlives a call of its methods, so
// a copy that is made between such calls is sound.
func Assign[V any](dst, src *V) { *dst = *src }
