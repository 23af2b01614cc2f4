package class

// A Doc is what users read about a class. Verdicts, help, the reference in docs/lint.md, the rules of SARIF and the links
// in diagnostics are all made from the table below.
type Doc struct {
	Class   Class
	Verdict Verdict
	Title   string // one line, what it is
	Text    string // why it matters, and what to do
	Before  string // code that has the class, as statements
	After   string // the same, fixed; empty where nothing needs to be
}

// DocsURL is the page with the reference of the classes.
const DocsURL = "https://github.com/statuspatcher/statuspatcher/blob/main/docs/lint.md"

// URL is the place that describes a class.
func URL(c Class) string { return DocsURL + "#" + DocOf(c).Anchor() }

// Anchor is the heading of the class in docs/lint.md.
func (d Doc) Anchor() string { return string(d.Class) }

// table holds the classes in the order in which they take precedence where several fit one site.
var table = []Doc{
	{Transplant, Fix, "A status that was decided on an older read is put onto a fresh object",
		`The object is read again, and then gets the status of the older object, or the older object gets the fresh
resourceVersion. The optimistic lock compares the fresh version, so the write cannot conflict with what happened between
the two reads, and silently overwrites it. Decide again on the fresh object.`,
		`fresh := &v1.Database{}
if err := r.Get(ctx, key, fresh); err != nil {
	return err
}
fresh.Status = database.Status
return r.Status().Update(ctx, fresh)`,
		`fresh := &v1.Database{}
if err := r.Get(ctx, key, fresh); err != nil {
	return err
}
fresh.Status.Phase = v1.PhasePlanned
return r.Status().Update(ctx, fresh)`},
	{StaleBase, Fix, "The object is written between the capture of the base and the patch",
		`The base has the resourceVersion from before the other write. With the optimistic lock the patch conflicts on every
reconcile; without it, the patch is blind. Capture the base after the other write, or write both through a patcher.`,
		`base := database.DeepCopy()
controllerutil.AddFinalizer(database, "example.com/backup")
if err := r.Update(ctx, database); err != nil {
	return err
}
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))`,
		`controllerutil.AddFinalizer(database, "example.com/backup")
if err := r.Update(ctx, database); err != nil {
	return err
}
base := database.DeepCopy()
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))`},
	{AliasedBase, Fix, "The base is the object itself, or shares what is changed with it",
		`A merge patch is the difference between the base and the object. Where both are the same memory, where the base is
copied after the change, or where it is a shallow copy of an object whose slices are changed in place, the patch is empty or
lacks that change. Copy with DeepCopy before the change.`,
		`patch := client.MergeFrom(database)
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, patch)`,
		`patch := client.MergeFromWithOptions(database.DeepCopy(), client.MergeFromWithOptimisticLock{})
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, patch)`},
	{DeadRetry, Fix, "A retry, or a branch, waits for a conflict that the write cannot get",
		`RetryOnConflict and IsConflict do nothing around a patch without the optimistic lock: the server never responds with
a conflict, and the write is blind. Add the lock.`,
		`return retry.RetryOnConflict(retry.DefaultRetry, func() error {
	if err := r.Get(ctx, key, database); err != nil {
		return err
	}
	base := database.DeepCopy()
	database.Status.Phase = v1.PhasePlanned
	return r.Status().Patch(ctx, database, client.MergeFrom(base))
})`,
		`return retry.RetryOnConflict(retry.DefaultRetry, func() error {
	if err := r.Get(ctx, key, database); err != nil {
		return err
	}
	base := database.DeepCopy()
	database.Status.Phase = v1.PhasePlanned
	return r.Status().Patch(ctx, database, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
})`},
	{StaleRetry, Fix, "A retry writes the object that was read before the retry",
		`After a conflict, each attempt sends the same resourceVersion again and gets the same conflict. The retry only delays
the error. Read the object and decide inside the retry.`,
		`if err := r.Get(ctx, key, database); err != nil {
	return err
}
return retry.RetryOnConflict(retry.DefaultRetry, func() error {
	database.Status.Phase = v1.PhasePlanned
	return r.Status().Update(ctx, database)
})`,
		`return retry.RetryOnConflict(retry.DefaultRetry, func() error {
	if err := r.Get(ctx, key, database); err != nil {
		return err
	}
	database.Status.Phase = v1.PhasePlanned
	return r.Status().Update(ctx, database)
})`},
	{BlindMerge, Fix, "A merge patch without the optimistic lock",
		`client.MergeFrom sends the changed fields without a resourceVersion, so that a decision made on an older read
overwrites what another reconcile wrote in between. Add client.MergeFromWithOptimisticLock, or write through a generated
patcher.`,
		`base := database.DeepCopy()
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, client.MergeFrom(base))`,
		`base := database.DeepCopy()
database.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, database, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))`},
	{BlindJSON, Fix, "A handwritten patch with neither a resourceVersion nor a test operation",
		`A JSON patch or a raw merge patch is checked against nothing unless it contains the resourceVersion or a test
operation. Put the resourceVersion of the object that the decision was made on into it.`,
		`patch := client.RawPatch(types.MergePatchType, []byte(` + "`" + `{"status":{"phase":"Planned"}}` + "`" + `))
return r.Status().Patch(ctx, database, patch)`,
		`patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, ` + "`" + `{"metadata":{"resourceVersion":%q},"status":{"phase":"Planned"}}` + "`" + `,
	database.ResourceVersion))
return r.Status().Patch(ctx, database, patch)`},
	{BlindUpdate, Fix, "An Update of an object without a resourceVersion",
		`An object that the code makes, or whose resourceVersion it clears, is not compared with anything: built-in kinds are
overwritten, custom resources refuse it. Read the object first.`,
		`database := &v1.Database{}
database.Name = req.Name
database.Namespace = req.Namespace
database.Status.Phase = v1.PhasePlanned
return r.Status().Update(ctx, database)`,
		`database := &v1.Database{}
if err := r.Get(ctx, req.NamespacedName, database); err != nil {
	return err
}
database.Status.Phase = v1.PhasePlanned
return r.Status().Update(ctx, database)`},
	{BlindApply, Fix, "A server-side apply of status without a resourceVersion",
		`Field managers keep writers apart, but two replicas of one controller are the same manager: a decision made on an
older read still lands. Set the resourceVersion that the decision was made on.`,
		`applied := &v1.Database{ObjectMeta: metav1.ObjectMeta{Name: database.Name, Namespace: database.Namespace}}
applied.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, applied, client.Apply, client.FieldOwner("planner"))`,
		`applied := &v1.Database{ObjectMeta: metav1.ObjectMeta{Name: database.Name, Namespace: database.Namespace}}
applied.ResourceVersion = database.ResourceVersion
applied.Status.Phase = v1.PhasePlanned
return r.Status().Patch(ctx, applied, client.Apply, client.FieldOwner("planner"))`},
	{SwallowedConflict, Fix, "A conflict is neither returned nor followed by another attempt",
		`The write is checked, but when the check fails, the error is only logged or dropped. Unless something else queues the
object again, the status is lost. Return the error, or ask for a requeue.`,
		`if err := r.Status().Update(ctx, database); err != nil {
	log.FromContext(ctx).Error(err, "cannot update the status")
}
return ctrl.Result{}, nil`,
		`if err := r.Status().Update(ctx, database); err != nil {
	return ctrl.Result{}, err
}
return ctrl.Result{}, nil`},
	{Unflushed, Fix, "The object of a generated patcher changes, and a return is reached without a flush",
		`What was set in memory is not written on that way out. Flush before the return, or defer FlushOnReturn.`,
		`database, status, err := statuses.Fetch(ctx, key)
if err != nil {
	return err
}
database.Status.Phase = v1.PhasePlanned
if database.Spec.Paused {
	return nil
}
_, err = status.Flush(ctx)
return err`,
		`database, status, err := statuses.Fetch(ctx, key)
if err != nil {
	return err
}
database.Status.Phase = v1.PhasePlanned
_, err = status.Flush(ctx)
return err`},
	{ClearedEarly, Fix, "A status is cleared before a write that can fail, and flushed if it fails",
		`FlushOnReturn also writes when the function returns an error. If the write fails, the cleared field lands all the same, and the
next reconcile no longer knows what was left to do. Clear the field after the write, or defer FlushOnSuccess.`,
		`database, status, err := statuses.Fetch(ctx, key)
if err != nil {
	return err
}
defer status.FlushOnReturn(ctx, nil, &err)
database.Status.Plan = nil
if err := r.Delete(ctx, database); err != nil {
	return err
}
return nil`,
		`database, status, err := statuses.Fetch(ctx, key)
if err != nil {
	return err
}
defer status.FlushOnReturn(ctx, nil, &err)
if err := r.Delete(ctx, database); err != nil {
	return err
}
database.Status.Plan = nil
return nil`},
	{BehindThePatcher, Fix, "A client reads or writes a patcher's object between Fetch and Flush",
		`The patcher still has the base of its own read, so the next Flush conflicts, or sends changes that the code
did not make. Write metadata with PatchMetadata, and read again with Refresh.`,
		`database, status, err := statuses.Fetch(ctx, key)
if err != nil {
	return err
}
if err := r.Update(ctx, database); err != nil {
	return err
}
_, err = status.Flush(ctx)
return err`, ""},
	{Unknown, NotKnown, "What decides the class cannot be seen",
		`The reason names the call or the value, its place, and what would make it visible. Review the site by hand.`, "", ""},
	{Refetch, OK, "An Update inside a retry that reads and decides again",
		`Each attempt works on a fresh read, so nothing is overwritten.`, "", ""},
	{Update, OK, "An Update of what was read, with its resourceVersion",
		`The server compares the resourceVersion and responds with a conflict if the object has changed.`, "", ""},
	{Locked, OK, "A patch that carries the resourceVersion",
		`The optimistic lock, a resourceVersion in the patch, or a test operation.`, "", ""},
	{Generated, OK, "Written by a generated patcher", `Nothing to do.`, "", ""},
	{Finalizer, OutOfScope, "A write of finalizers", `No status write; only the audit lists it.`, "", ""},
	{Metadata, OutOfScope, "A write of metadata", `No status write; only the audit lists it.`, "", ""},
	{Spec, OutOfScope, "A write of the main resource", `No status write; only the audit lists it.`, "", ""},
	{Child, OutOfScope, "A server-side apply of another object", `No status write; only the audit lists it.`, "", ""},
	{Subresource, OutOfScope, "A write of another subresource", `No status write; only the audit lists it.`, "", ""},
}

// Docs are the entries of all classes, in the order of precedence.
func Docs() []Doc { return append([]Doc(nil), table...) }

// DocOf is the entry of a class; the zero Doc if there is none of that name.
func DocOf(c Class) Doc {
	for _, d := range table {
		if d.Class == c {
			return d
		}
	}
	return Doc{}
}

// All are the classes in the order of precedence.
func All() []Class {
	var all []Class
	for _, d := range table {
		all = append(all, d.Class)
	}
	return all
}

func rank(c Class) int {
	for i, d := range table {
		if d.Class == c {
			return i
		}
	}
	return len(table)
}

// Known reports whether c is the name of a class.
func Known(c Class) bool { return rank(c) < len(table) }

// Before reports whether c takes precedence over d.
func (c Class) Before(d Class) bool { return rank(c) < rank(d) }

// Verdict is the verdict of a class.
func (c Class) Verdict() Verdict { return DocOf(c).Verdict }
