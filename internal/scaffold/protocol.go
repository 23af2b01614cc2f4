// Package scaffold adds status patchers to kubebuilder projects. It is the external plugin statuspatcher/v1: kubebuilder sends a request
// on standard input, with all files of the project, and writes the files that the response has.
//
// The protocol is described in https://book.kubebuilder.io/plugins/extending/external-plugins.html.
package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// protocol is the version of the protocol.
const protocol = "v1alpha1"

// A Request is what kubebuilder sends.
type Request struct {
	APIVersion string   `json:"apiVersion"`
	Command    string   `json:"command"`
	Args       []string `json:"args"`
	// Universe has the files of the project by their names.
	Universe map[string]string `json:"universe"`
	// Config is the file PROJECT.
	Config map[string]any `json:"config,omitempty"`
}

// A Response is what kubebuilder reads.
type Response struct {
	APIVersion string   `json:"apiVersion"`
	Command    string   `json:"command"`
	Metadata   Metadata `json:"metadata"`
	// Universe has the files to write.
	Universe  map[string]string `json:"universe"`
	Error     bool              `json:"error,omitempty"`
	ErrorMsgs []string          `json:"errorMsgs,omitempty"`
	Flags     []Flag            `json:"flags,omitempty"`
}

// Metadata is the help of a command.
type Metadata struct {
	Description string
	Examples    string
}

// Flag is a flag of a command. This plugin has none.
type Flag struct{ Name, Type, Default, Usage string }

// Serve reads a request and writes the response to it. version is that of the modules that the project gets. Notes for the user go to
// notes. An error is one of reading or writing; what is wrong with the project is in the response.
func Serve(in io.Reader, out, notes io.Writer, version string) error {
	var request Request
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("there is no request on standard input: kubebuilder runs this program, see docs/kubebuilder.md")
		}
		return fmt.Errorf("reading the request of kubebuilder: %w", err)
	}
	response := Response{APIVersion: protocol, Command: request.Command, Universe: map[string]string{}}
	p := newProject(request.Universe, version, notes)
	err := p.run(request, &response.Metadata)
	if err != nil {
		response.Error, response.ErrorMsgs = true, []string{"statuspatcher/v1: " + err.Error()}
	} else {
		response.Universe = p.changed
	}
	return json.NewEncoder(out).Encode(response)
}
