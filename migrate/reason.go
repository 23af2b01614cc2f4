package migrate

import (
	"fmt"
	"go/ast"
	"go/token"
)

// A reason is why a write is left as it is: the first thing that could not be shown, where it stands, and what to do by hand.
type reason struct {
	text string
	pos  token.Pos
	hint string
}

func because(n ast.Node, hint, format string, args ...any) *reason {
	r := &reason{text: fmt.Sprintf(format, args...), hint: hint}
	if n != nil {
		r.pos = n.Pos()
	}
	return r
}

// What to do by hand.
const (
	hintRead      = "read the object where it is written, then flush it"
	hintEarly     = "if the earlier edits are to be written, too, flush the object here; otherwise keep this write"
	hintOptions   = "drop the options if the status has one writer, then migrate again; otherwise keep this write"
	hintWrap      = "nothing: the wrapped client checks this write"
	hintReread    = "read the object and decide inside the retry, or use Retry of the StatusClient"
	hintOutdated  = "read the object again before this write, or write it through one variable; the wrapped client locks this write, too"
	hintGoroutine = "read the object in the goroutine, then flush it"
	hintClient    = "keep the client.Client in reach of this function"
)
