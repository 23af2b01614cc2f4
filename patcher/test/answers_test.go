package patcher_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// admission makes every write of a Cell's status in the namespace of b ask a webhook at url.
func admission(b *bed, url string, ca []byte) {
	b.Helper()
	none, timeout := admissionregistrationv1.SideEffectClassNone, int32(1)
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: b.key.Namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "v.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: ca},
			AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, TimeoutSeconds: &timeout,
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": b.key.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{v1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"cells/status"}},
			}},
		}},
	}
	b.must(b.wire.Create(b.ctx, config))
	b.Cleanup(func() { _ = b.wire.Delete(context.WithoutCancel(b.ctx), config) })
}

// refusedByWebhook waits until the API server asks the webhook, and returns the error of the first Flush that it refused.
func refusedByWebhook(b *bed) (*v1.Cell, error) {
	b.Helper()
	for range 200 {
		cell, p := b.fetch()
		cell.Status.Counter++
		if _, err := p.Flush(b.ctx); err != nil {
			return cell, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatal("the API server does not ask the webhook")
	return nil, nil
}

// denying is a webhook that denies everything with that code.
func denying(t *testing.T, code int32) (url string, ca []byte) {
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		review := admissionv1.AdmissionReview{}
		_ = json.Unmarshal(body, &review)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{
			Code: code, Reason: metav1.StatusReasonConflict, Message: "the object has been modified, says the webhook",
		}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	hook.Config.ErrorLog = log.New(io.Discard, "", 0)
	hook.StartTLS()
	t.Cleanup(hook.Close)
	return hook.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
}

// What the API server answers, and what it says about the write.
func TestAnswersThatSayThatNothingWasWritten(t *testing.T) {
	t.Run("rule: a webhook that denies with 409 is not a conflict", func(t *testing.T) {
		b := newBed(t)
		url, ca := denying(t, http.StatusConflict)
		admission(b, url, ca)
		_, err := refusedByWebhook(b)
		var conflict *patcher.ConflictError
		if errors.As(err, &conflict) || !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "says the webhook") {
			t.Errorf("Flush: %v", err)
		}
		if _, loud := patcher.RequeueOnConflict(err); loud == nil {
			t.Error("it would be requeued in silence, forever")
		}
	})
	for name, code := range map[string]int32{"denies with 500": http.StatusInternalServerError, "is down": 0} {
		t.Run("rule: a webhook that "+name+" is not an unknown outcome", func(t *testing.T) {
			b := newBed(t)
			url, ca := "https://127.0.0.1:1", []byte(nil)
			if code != 0 {
				url, ca = denying(t, code)
			}
			admission(b, url, ca)
			cell, err := refusedByWebhook(b)
			var status apierrors.APIStatus
			if errors.Is(err, patcher.ErrUnknownOutcome) || !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
				t.Errorf("Flush: %v", err)
			}
			if b.live().Status.Counter == cell.Status.Counter {
				t.Error("it was written")
			}
		})
	}
	t.Run("rule: an object beyond etcd's limit is not an unknown outcome", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		for range 40 {
			cell.Status.Writers = append(cell.Status.Writers, strings.Repeat("x", 50_000))
		}
		_, err := p.Flush(b.ctx)
		if err == nil || errors.Is(err, patcher.ErrUnknownOutcome) || len(b.live().Status.Writers) != 0 {
			t.Errorf("Flush: %v", err)
		}
	})
	t.Run("control: a storage conflict is one", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.forge(phase("Foreign"))
		cell.Status.Counter = 1
		var conflict *patcher.ConflictError
		if _, err := p.Flush(b.ctx); !errors.As(err, &conflict) {
			t.Errorf("Flush: %v", err)
		}
	})
}
