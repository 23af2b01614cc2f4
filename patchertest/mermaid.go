package patchertest

import (
	"fmt"
	"strings"
)

// Mermaid is the counterexample as a Mermaid sequence diagram; "" without one.
func (r *Report) Mermaid() string {
	if r.Violation == nil || len(r.Violation.Steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	names := map[string]string{}
	for _, s := range r.Violation.Steps {
		if names[s.Who] == "" {
			names[s.Who] = fmt.Sprintf("P%d", len(names)+1)
			fmt.Fprintf(&b, "    participant %s as %s\n", names[s.Who], plainText(s.Who))
		}
	}
	b.WriteString("    participant S as API server\n")
	for _, s := range r.Violation.Steps {
		if s.System != "" && names[s.System+" system"] == "" {
			names[s.System+" system"] = fmt.Sprintf("P%d", len(names)+1)
			fmt.Fprintf(&b, "    participant %s as %s\n", names[s.System+" system"], plainText(s.System))
		}
	}
	for _, s := range r.Violation.Steps {
		who := names[s.Who]
		switch {
		case strings.HasPrefix(s.Call, "cache learns "), strings.HasPrefix(s.Call, "first list"):
			fmt.Fprintf(&b, "    S-->>%s: %s\n", who, plainText(s.Call))
		case strings.HasSuffix(s.Call, "(cache)"):
			fmt.Fprintf(&b, "    %s->>%s: %s: %s %s\n", who, who, plainText(s.Call), plainText(s.Saw), plainText(s.Answer))
		default:
			to := "S"
			if s.System != "" {
				to = names[s.System+" system"]
			}
			fmt.Fprintf(&b, "    %s->>%s: %s\n    %s-->>%s: %s\n", who, to, plainText(s.Call), to, who, plainText(strings.TrimSpace(s.Saw+" "+s.Answer)))
		}
		if s.Note != "" {
			fmt.Fprintf(&b, "    Note over %s,S: %s\n", who, plainText(s.Note))
		}
	}
	fmt.Fprintf(&b, "    Note over S: VIOLATED %s: %s\n", plainText(r.Violation.Invariant), plainText(r.Violation.Detail))
	return b.String()
}

// plainText replaces the two characters that end a Mermaid message.
func plainText(s string) string {
	return strings.NewReplacer(";", ",", "#", "no. ", "\n", " ").Replace(s)
}
