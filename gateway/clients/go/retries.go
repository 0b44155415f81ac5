package bmg

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bmg.example/client/rest"
	"github.com/google/uuid"
)

const (
	firstWait = 250 * time.Millisecond
	waitMax   = time.Minute
	// 2 to the power of this many waits is beyond the maximum.
	doublingsMax = 16
	keyHeader    = "Idempotency-Key"
)

// retrying repeats a request if that is safe: if the error is retryable, or if the connection
// failed and the request changes nothing or has an Idempotency-Key. Sends get such a key by
// themselves, the same on each attempt.
type retrying struct {
	settings
	root string
	next rest.HttpRequestDoer
}

func newRetrying(baseURL string, chosen settings) (*retrying, error) {
	address, err := url.Parse(baseURL)
	if err != nil {
		return nil, err
	}
	return &retrying{settings: chosen, root: address.Path, next: chosen.client}, nil
}

// Do makes the request. An error answer to the last attempt is returned as an *Error.
func (requests *retrying) Do(request *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(request.URL.Path, requests.root)
	if request.Method == http.MethodPost && idempotentPaths[path] && request.Header.Get(keyHeader) == "" {
		request.Header.Set(keyHeader, uuid.NewString())
	}
	isSafe := request.Method == http.MethodGet || request.Header.Get(keyHeader) != ""
	content, err := contentOf(request)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		response, body, err := requests.answer(request, content)
		wait := backoff(attempt)
		if err == nil {
			failure := errorOf(response, body, isSafe)
			if failure == nil {
				return response, nil
			}
			if !failure.Retryable || attempt >= requests.attemptsMax {
				return nil, failure
			}
			if failure.RetryAfter != nil {
				wait = *failure.RetryAfter
			}
		} else if !isSafe || attempt >= requests.attemptsMax || request.Context().Err() != nil {
			return nil, err
		}
		if err := requests.sleep(request.Context(), wait); err != nil {
			return nil, err
		}
	}
}

func contentOf(request *http.Request) ([]byte, error) {
	if request.Body == nil {
		return nil, nil
	}
	defer request.Body.Close()
	return io.ReadAll(request.Body)
}

// answer reads the whole answer: a connection that breaks inside the body fails the attempt.
func (requests *retrying) answer(request *http.Request, content []byte) (*http.Response, []byte, error) {
	attempt := request.Clone(request.Context())
	if content != nil {
		attempt.Body = io.NopCloser(bytes.NewReader(content))
	}
	response, err := requests.next.Do(attempt)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, body, nil
}

// backoff is exponential, with jitter.
func backoff(attempt int) time.Duration {
	wait := min(firstWait<<min(attempt-1, doublingsMax), waitMax)
	return wait/2 + rand.N(wait/2)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
