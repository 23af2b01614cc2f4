package schedule

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

const tokenPrefix = "v1-"

// Encode writes a schedule as a token: where it departs from the plain schedule, and to what. It runs the schedule once.
func Encode(run Runner, choices_ []Choice) string {
	var data []byte
	since := uint64(0)
	next := 0
	run(func(enabled []Action, ran []Step) (Choice, bool) {
		if next >= len(choices_) {
			return Choice{}, false
		}
		choice := choices_[next]
		next++
		for i, c := range choices(enabled, ran) {
			if c == choice && i > 0 {
				data = binary.AppendUvarint(data, since)
				data = binary.AppendUvarint(data, uint64(i))
				since = 0
				return choice, true
			}
		}
		since++
		return choice, true
	})
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(data)
}

// Decode reads a token. The chooser ends the schedule where the model does not offer what the token asks for.
func Decode(token string) (Chooser, error) {
	text, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return nil, fmt.Errorf("token %q: expected one that begins with %q; copy it whole from a report", token, tokenPrefix)
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("token %q: expected base64 after the prefix; copy it whole from a report: %w", token, err)
	}
	picks := map[int]int{}
	for step := 0; len(data) > 0; step++ {
		since, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, fmt.Errorf("token %q is cut short; copy it whole from a report", token)
		}
		pick, m := binary.Uvarint(data[n:])
		if m <= 0 {
			return nil, fmt.Errorf("token %q is cut short; copy it whole from a report", token)
		}
		data = data[n+m:]
		step += int(since)
		picks[step] = int(pick)
	}
	at := -1
	return func(enabled []Action, ran []Step) (Choice, bool) {
		at++
		order := choices(enabled, ran)
		if picks[at] >= len(order) {
			return Choice{}, false
		}
		return order[picks[at]], true
	}, nil
}
