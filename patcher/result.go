package patcher

// Result says what a write did. It is empty if the write returned an error.
type Result string

const (
	// ResultUnchanged: there was nothing to send, so no request was made; or the API server accepted the write and stored
	// nothing new, because it set a field back to its default or because the client makes dry runs only.
	ResultUnchanged Result = "unchanged"
	// ResultPatched: the API server stored the write, on the version that it was decided on.
	ResultPatched Result = "patched"
	// ResultRebased: the API server stored the write on a newer version, which differs from the base in nothing that the
	// decision depends on. See RebaseOnConflict.
	ResultRebased Result = "rebased"
	// ResultGone: the object was being deleted when it was read, and no longer exists. There is nothing left to write to.
	ResultGone Result = "gone"
)
