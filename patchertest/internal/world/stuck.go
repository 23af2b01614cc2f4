package world

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// describeStuck says where a reconcile waits that nothing will wake, from the stacks of all goroutines.
func (w *World) describeStuck(r *run) string {
	where := "somewhere outside the API"
	for _, g := range Goroutines() {
		if g.Bubble == Bubble() && strings.Contains(g.Stack, "world.(*World).launch.func") && !strings.Contains(g.Stack, "world.(*controller).park") {
			where = g.State + " at " + g.Site
		}
	}
	return fmt.Sprintf("the reconcile of %s by %s waits for ever: %s", r.key, r.c.who(), where)
}

// Goroutine is one goroutine of a stack dump.
type Goroutine struct {
	State  string // as the runtime names it, such as "chan send" or "sync.Mutex.Lock"
	Bubble int64  // the synctest bubble that it belongs to, or 0
	Site   string // file:line of the first frame that is the user's
	Stack  string
}

// Goroutines parses a dump of all stacks.
func Goroutines() []Goroutine {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var out []Goroutine
	for _, block := range strings.Split(string(buf), "\n\n") {
		header, stack, ok := strings.Cut(block, "\n")
		_, state, bracket := strings.Cut(header, "[")
		if !ok || !bracket {
			continue
		}
		state = strings.TrimSuffix(strings.TrimSuffix(state, ":"), "]")
		bubble := bubbleOf(header)
		state, _, _ = strings.Cut(state, ",")
		out = append(out, Goroutine{State: strings.TrimSuffix(state, " (durable)"), Bubble: bubble, Site: siteOf(stack), Stack: stack})
	}
	return out
}

// Bubble is the number of the bubble that the caller runs in.
func Bubble() int64 {
	buf := make([]byte, 128)
	return bubbleOf(string(buf[:runtime.Stack(buf, false)]))
}

func bubbleOf(header string) int64 {
	_, number, _ := strings.Cut(header, "synctest bubble ")
	end := strings.IndexAny(number, "],")
	if end < 0 {
		return 0
	}
	n, err := strconv.ParseInt(number[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// siteOf finds the first frame outside the standard library and this package.
func siteOf(stack string) string {
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		function, file := lines[i], strings.TrimSpace(lines[i+1])
		if foreignFrame(function) || standard(function, file) {
			continue
		}
		file, _, _ = strings.Cut(file, " +")
		return file[strings.LastIndex(file, "/")+1:]
	}
	return "an unknown place"
}

// standard tells frames of the standard library: their path is that of the file below the src of Go itself.
func standard(function, file string) bool {
	first, _, hasPath := strings.Cut(function, "/")
	if !hasPath {
		return !strings.HasPrefix(function, "main.")
	}
	return !strings.Contains(first, ".") && strings.Contains(file, "/src/"+first+"/")
}
