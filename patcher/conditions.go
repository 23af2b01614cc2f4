package patcher

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is how many characters the API server's schema lets a condition's message have. It counts runes.
const maxMessage = 32768

// SetCondition sets the condition of that type, stamps it with the generation that was read, and reports whether
// anything changed. lastTransitionTime moves only if the condition's status does, as the Kubernetes API conventions want it;
// with MirrorTransitionTimes it and a generation that condition has are taken over as they are. A message longer than the
// 32768 characters that metav1.Condition allows is cut. Inside Retry's mutate it works on the object of the current attempt.
//
// A condition that the API server would refuse, such as one without a reason, is left out, so that it does not block what
// else there is to write: SetCondition changes nothing, and the next Flush or Retry writes the rest and then returns
// ErrInvalidCondition.
func (p *Patcher[T, S]) SetCondition(condition metav1.Condition) (changed bool) {
	if why := p.whyInvalid(condition); why != "" {
		p.problems = append(p.problems, fmt.Sprintf("condition %q: %s", condition.Type, why))
		return false
	}
	condition.Message = cutMessage(condition.Message)
	if p.client.options.mirrorTransitions {
		return p.mirrorCondition(condition)
	}
	condition.ObservedGeneration = p.stamp()
	return meta.SetStatusCondition(p.conditions(), condition)
}

// mirrorCondition takes over what the other object's condition says of itself.
func (p *Patcher[T, S]) mirrorCondition(condition metav1.Condition) (changed bool) {
	if condition.ObservedGeneration == 0 {
		condition.ObservedGeneration = p.stamp()
	}
	changed = meta.SetStatusCondition(p.conditions(), condition)
	set := meta.FindStatusCondition(*p.conditions(), condition.Type)
	if at := condition.LastTransitionTime; !at.IsZero() && !at.Equal(&set.LastTransitionTime) {
		set.LastTransitionTime, changed = at, true
	}
	return changed
}

// RemoveCondition removes the condition of that type and reports whether there was one.
func (p *Patcher[T, S]) RemoveCondition(conditionType string) (changed bool) {
	if len(p.client.kind.readConditions(p.client.kind.Status(p.active))) == 0 {
		return false
	}
	return meta.RemoveStatusCondition(p.conditions(), conditionType)
}

// Condition returns a copy of the condition of that type, or nil. A pointer into the list would change with it, and a
// transition would compare equal to itself.
func (p *Patcher[T, S]) Condition(conditionType string) *metav1.Condition {
	condition := meta.FindStatusCondition(p.client.kind.readConditions(p.client.kind.Status(p.active)), conditionType)
	if condition == nil {
		return nil
	}
	return condition.DeepCopy()
}

// SetObservedGeneration stamps the status with the generation that was read: the fetch's, or inside Retry's mutate that
// of the current attempt. It is never the live object's, whose spec the running code has not seen.
func (p *Patcher[T, S]) SetObservedGeneration() {
	kind := p.client.kind
	*kind.ObservedGeneration(kind.made(kind.Status(p.active))) = p.stamp()
}

// StampGeneration makes SetCondition and SetObservedGeneration stamp this generation from now on, in place of the
// object's own: that of the parent whose spec a child's status reports on. Zero goes back to the object's own.
func (p *Patcher[T, S]) StampGeneration(generation int64) { p.stamped = generation }

func (p *Patcher[T, S]) stamp() int64 {
	if p.stamped != 0 {
		return p.stamped
	}
	return p.generation
}

func (p *Patcher[T, S]) conditions() *[]metav1.Condition {
	kind := p.client.kind
	return kind.Conditions(kind.made(kind.Status(p.active)))
}

// whyInvalid says why the API server would refuse the condition; nothing of it that the server has accepted before.
func (p *Patcher[T, S]) whyInvalid(condition metav1.Condition) string {
	known := meta.FindStatusCondition(p.client.kind.readConditions(&p.base.status), condition.Type)
	if known == nil && !isConditionType(condition.Type) {
		return "the type must be a name such as Ready, of at most 316 letters, digits, '-', '_' or '.', after a DNS prefix and a slash or without"
	}
	switch condition.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		return fmt.Sprintf("status %q: it must be True, False or Unknown", condition.Status)
	}
	if (known == nil || known.Reason != condition.Reason) && !isReason(condition.Reason) {
		return fmt.Sprintf("reason %q: it must be a word such as AsExpected, of at most 1024 letters, digits, '_', ',' or ':', that starts with a letter", condition.Reason)
	}
	return ""
}

// The patterns of metav1.Condition.
var (
	typePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`)
	})
	reasonPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`) })
)

func isConditionType(name string) bool { return len(name) <= 316 && typePattern().MatchString(name) }

func isReason(reason string) bool { return len(reason) <= 1024 && reasonPattern().MatchString(reason) }

// problem returns the error for the conditions that SetCondition left out since the last call.
func (p *Patcher[T, S]) problem() error {
	if len(p.problems) == 0 {
		return nil
	}
	problems := strings.Join(p.problems, "; ")
	p.problems = nil
	return fmt.Errorf("%s: %w and was left out, everything else is written: %s", p.describe(), ErrInvalidCondition, problems)
}

// normaliseConditions readies the conditions of status for sending, on a copy: what the API server would refuse, or what
// would change at every reconcile without meaning anything, is put right here.
func (c *Client[T, S]) normaliseConditions(base, status *S) {
	current, old := c.kind.readConditions(status), c.kind.readConditions(base)
	var normal []metav1.Condition
	for i, condition := range current {
		n := c.normalCondition(condition, findCondition(old, i, condition.Type))
		if n == condition {
			continue
		}
		if normal == nil {
			normal = slices.Clone(current)
		}
		normal[i] = n
	}
	if normal != nil {
		*c.kind.Conditions(status) = normal
	}
}

func (c *Client[T, S]) normalCondition(condition metav1.Condition, before *metav1.Condition) metav1.Condition {
	condition.Message = cutMessage(condition.Message)
	if !c.options.mirrorTransitions && before != nil && before.Status == condition.Status {
		condition.LastTransitionTime = before.LastTransitionTime
	}
	if condition.LastTransitionTime.IsZero() {
		condition.LastTransitionTime = metav1.NewTime(c.options.clock.Now()).Rfc3339Copy()
	}
	return condition
}

// findCondition looks where the condition was before it searches: long lists keep their order.
func findCondition(conditions []metav1.Condition, at int, conditionType string) *metav1.Condition {
	if at < len(conditions) && conditions[at].Type == conditionType {
		return &conditions[at]
	}
	return meta.FindStatusCondition(conditions, conditionType)
}

// cutMessage cuts at a rune boundary: cut inside a rune, the text would come back different and be rewritten for ever.
func cutMessage(message string) string {
	if len(message) <= maxMessage || utf8.RuneCountInString(message) <= maxMessage {
		return message
	}
	runes := 0
	for i := range message {
		if runes == maxMessage {
			return message[:i]
		}
		runes++
	}
	return message
}
