// Command statuspatcher-lint finds handwritten writes of Kubernetes status, says which of them lose data, and fixes those for which a
// small local change is enough.
//
//	statuspatcher-lint ./...                   every site that should be fixed; exit 0 none, 3 some, 1 could not
//	statuspatcher-lint -ban ./...              every handwritten status write, right or wrong
//	statuspatcher-lint -fix ./...              apply the suggested fixes; -diff shows them instead
//	statuspatcher-lint -audit ./...            every site with its class; exit 0
//	statuspatcher-lint -baseline=FILE ./...    only what is not in FILE, an earlier -audit -format=json
//	go vet -vettool=$(which statuspatcher-lint) ./...
package main

import (
	"fmt"
	"os"
	"strings"
)

// Exit codes.
const (
	exitClean    = 0
	exitFailed   = 1
	exitFindings = 3
)

func main() {
	if asVetTool(os.Args[1:]) {
		os.Exit(vetTool(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(standalone(os.Args[1:], os.Stdout, os.Stderr))
}

// asVetTool recognises the protocol of go vet -vettool: what it asks first, and the unit it hands over.
func asVetTool(args []string) bool {
	for _, a := range args {
		if a == "-V=full" || a == "-flags" || strings.HasSuffix(a, ".cfg") {
			return true
		}
	}
	return false
}

const usage = `statuspatcher-lint finds handwritten writes of Kubernetes status and says which of them lose data.

Usage: statuspatcher-lint [flags] [packages]
       go vet -vettool=$(which statuspatcher-lint) [packages]

Exit status: 0 nothing to fix, 3 something to fix, 1 could not look at everything.

Flags:
`

func fail(stderr interface{ Write([]byte) (int, error) }, err error) int {
	fmt.Fprintln(stderr, "statuspatcher-lint: "+err.Error())
	return exitFailed
}
