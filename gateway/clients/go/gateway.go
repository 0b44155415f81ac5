// Package bmg is a client of the Business Messaging Gateway.
//
// The package rest below it is generated from the OpenAPI document: a method for each endpoint and
// a type for each schema. This package adds retries, lists, the endless sequence of events, and the
// verification of webhooks.
package bmg

import (
	"context"
	"net/http"
	"strings"
	"time"

	"bmg.example/client/rest"
)

const (
	attemptsDefault = 4
	// waitS is the longest that the gateway holds a request.
	waitS = 20
	// answerLimit is the time after which a request without an answer counts as lost.
	answerLimit = (waitS + 15) * time.Second
)

// Gateway has a method for every endpoint, for example SendTextWithResponse. Every error answer of
// the gateway is returned as an *Error: if the error is nil, the JSON field of a success is set.
type Gateway struct {
	*rest.ClientWithResponses
}

type settings struct {
	attemptsMax int
	client      rest.HttpRequestDoer
	sleep       func(context.Context, time.Duration) error
}

// Option changes a setting of NewGateway.
type Option func(*settings)

// WithAttempts sets the number of attempts of a request that may be repeated; 1 switches retries
// off.
func WithAttempts(attemptsMax int) Option {
	return func(chosen *settings) { chosen.attemptsMax = attemptsMax }
}

// WithHTTPClient sets the client that makes the requests, for example with a proxy or your own
// certificates.
func WithHTTPClient(client rest.HttpRequestDoer) Option {
	return func(chosen *settings) { chosen.client = client }
}

// NewGateway connects to a gateway. The address ends with /v1, for example
// https://gateway.example.com/v1. The partner key is a full credential: keep it on your server.
func NewGateway(baseURL, partnerKey string, options ...Option) (*Gateway, error) {
	chosen := settings{
		attemptsMax: attemptsDefault,
		client:      &http.Client{Timeout: answerLimit},
		sleep:       sleep,
	}
	for _, option := range options {
		option(&chosen)
	}
	baseURL = strings.TrimRight(baseURL, "/")
	requests, err := newRetrying(baseURL, chosen)
	if err != nil {
		return nil, err
	}
	client, err := rest.NewClientWithResponses(
		baseURL,
		rest.WithHTTPClient(requests),
		rest.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("x-partner-key", partnerKey)
			return nil
		}),
	)
	if err != nil {
		return nil, err
	}
	return &Gateway{client}, nil
}

// Some returns the address of a value, for fields that may be left out.
func Some[T any](value T) *T { return &value }
