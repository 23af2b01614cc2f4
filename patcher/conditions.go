package patcher

import (
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is how many characters the API server's schema lets a condition's message have. It counts runes.
const maxMessage = 32768

// SetCondition sets the condition of that type, stamps it with the generation that was read, and reports whether
// anything changed. lastTransitionTime moves only when the condition's status does, as the Kubernetes API conventions want it. A
// message longer than the 32768 characters that metav1.Condition allows is cut. Inside Retry's mutate it works on the object of the
// current attempt.
func (p *Patcher[T, S]) SetCondition(condition metav1.Condition) (changed bool) {
	condition.ObservedGeneration = p.generation
	condition.Message = cutMessage(condition.Message)
	return meta.SetStatusCondition(p.conditions(), condition)
}

// RemoveCondition removes the condition of that type and reports whether there was one.
func (p *Patcher[T, S]) RemoveCondition(conditionType string) (changed bool) {
	return meta.RemoveStatusCondition(p.conditions(), conditionType)
}

// Condition returns a copy of the condition of that type, or nil. A pointer into the list would change with it, and a
// transition would compare equal to itself.
func (p *Patcher[T, S]) Condition(conditionType string) *metav1.Condition {
	condition := meta.FindStatusCondition(*p.conditions(), conditionType)
	if condition == nil {
		return nil
	}
	return condition.DeepCopy()
}

// SetObservedGeneration stamps the status with the generation that was read: the fetch's, or inside Retry's mutate that
// of the current attempt. It is never the live object's, whose spec the running code has not seen.
func (p *Patcher[T, S]) SetObservedGeneration() {
	*p.client.kind.ObservedGeneration(p.client.kind.Status(p.active)) = p.generation
}

func (p *Patcher[T, S]) conditions() *[]metav1.Condition {
	return p.client.kind.Conditions(p.client.kind.Status(p.active))
}

// normaliseConditions readies the conditions of status for sending, on a copy: what the API server would refuse, or what
// would change at every reconcile without meaning anything, is mended here.
func (c *Client[T, S]) normaliseConditions(base, status *S) {
	if c.kind.Conditions == nil {
		return
	}
	conditions, old := c.kind.Conditions(status), *c.kind.Conditions(base)
	copied := false
	for i, condition := range *conditions {
		normal := c.normalCondition(condition, findCondition(old, i, condition.Type))
		if normal == condition {
			continue
		}
		if !copied {
			*conditions, copied = slices.Clone(*conditions), true
		}
		(*conditions)[i] = normal
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
