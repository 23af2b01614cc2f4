package patcher

// Result says what a write did. An error comes with the empty Result.
type Result string

const (
	// ResultUnchanged: nothing differed from the base, and no request was sent.
	ResultUnchanged Result = "unchanged"
	// ResultPatched: the write landed on the state that it was decided on.
	ResultPatched Result = "patched"
	// ResultRebased: the write landed on a newer resourceVersion, found to differ in nothing that the decision rested on
	// (see RebaseOnConflict).
	ResultRebased Result = "rebased"
	// ResultGone: the object was being deleted when it was read, and is gone now. There is nothing left to write to.
	ResultGone Result = "gone"
)
