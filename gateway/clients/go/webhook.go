package bmg

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"bmg.example/client/rest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// ErrNoSecret means that no webhook secret was given.
var ErrNoSecret = errors.New("no webhook secret is given")

// ErrEmptySecret means that a webhook secret is empty: every sender can sign with it.
var ErrEmptySecret = errors.New("a webhook secret is empty")

// ErrSignature means that the signature of the request matches no secret.
var ErrSignature = errors.New("x-service-signature does not match")

// VerifyWebhook returns the event of a request to a webhook URL. It checks webhook-signature, of
// the Standard Webhooks convention. The body is the exact bytes of the request. The secrets are the
// webhook secret; while it is rotated, both. It fails if no secret matches, or if the time of the
// request differs by more than 5 minutes.
func VerifyWebhook(headers http.Header, body []byte, secrets ...string) (*rest.EventEnvelope, error) {
	failure := ErrNoSecret
	for _, secret := range secrets {
		if isEmpty(secret) {
			return nil, ErrEmptySecret
		}
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, err
		}
		if failure = webhook.Verify(body, headers); failure == nil {
			return eventOf(body)
		}
	}
	return nil, failure
}

// VerifyServiceSignature returns the event of a request to a webhook URL. It checks
// x-service-signature, which only the newest secret makes. It covers no time: prefer VerifyWebhook,
// or call both.
func VerifyServiceSignature(headers http.Header, body []byte, secrets ...string) (*rest.EventEnvelope, error) {
	given := []byte(headers.Get("x-service-signature"))
	for _, secret := range secrets {
		if isEmpty(secret) {
			return nil, ErrEmptySecret
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		if hmac.Equal([]byte("sha256="+hex.EncodeToString(mac.Sum(nil))), given) {
			return eventOf(body)
		}
	}
	return nil, ErrSignature
}

func isEmpty(secret string) bool { return secret == "" || secret == "whsec_" }

func eventOf(body []byte) (*rest.EventEnvelope, error) {
	var event rest.EventEnvelope
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, err
	}
	return &event, nil
}
