// Package controller has the three controllers of the example operator. Each fetches an object with its status patcher, lets
// planner and executor change the status in memory, and flushes once, when Reconcile returns.
//
//   - A Database is planned once, the plan is persisted, and the next reconcile executes it.
//   - A Fleet pauses its Databases and sums them up.
//   - A Backup claims a Database, runs a Job, and lets the Database go.
package controller
