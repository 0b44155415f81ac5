package bmg

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// UnexpectedAnswer is a code of the client, not of the gateway: the answer is not the gateway's,
// such as the HTML page of a proxy.
const UnexpectedAnswer = "UNEXPECTED_ANSWER"

const retryAfterMax = time.Minute

// Error is an error answer of the gateway. Branch on Code. Repeat the unchanged request only if
// Retryable is true.
type Error struct {
	Status          int    `json:"-"`
	Code            string `json:"code"`
	Message         string `json:"message"`
	Retryable       bool   `json:"retryable"`
	Details         any    `json:"details"`
	UpstreamCode    *int64 `json:"upstream_code"`
	UpstreamSubcode *int64 `json:"upstream_subcode"`
	PaymentURL      string `json:"payment_url"`
	DocURL          string `json:"doc_url"`
	RequestID       string `json:"request_id"`
	// RetryAfter is nil if the answer names no time.
	RetryAfter *time.Duration `json:"-"`
}

func (failure *Error) Error() string { return failure.Code + ": " + failure.Message }

// passes reports whether the unchanged request may succeed later.
func (failure *Error) passes() bool {
	return failure.Status >= 500 || failure.Status == http.StatusTooManyRequests
}

// errorOf returns the error of an answer; nil for a success. A proxy may have passed the request
// on, so that after its error only a request that is safe to repeat is retryable.
func errorOf(response *http.Response, body []byte, isSafe bool) *Error {
	contentType := response.Header.Get("content-type")
	isSuccess := response.StatusCode >= 200 && response.StatusCode < 300
	if isSuccess && !strings.HasPrefix(contentType, "text/html") {
		return nil
	}
	var answer struct {
		Error Error `json:"error"`
	}
	if !isSuccess && json.Unmarshal(body, &answer) == nil && answer.Error.Code != "" {
		failure := answer.Error
		failure.Status, failure.RetryAfter = response.StatusCode, retryAfter(response.Header)
		return &failure
	}
	failure := &Error{
		Status:     response.StatusCode,
		Code:       UnexpectedAnswer,
		RequestID:  response.Header.Get("x-request-id"),
		RetryAfter: retryAfter(response.Header),
	}
	if isSuccess {
		failure.Status = http.StatusBadGateway
	}
	if contentType == "" {
		contentType = "no content type"
	}
	failure.Message = fmt.Sprintf(
		"HTTP %d with %s: not an answer of the gateway", response.StatusCode, contentType)
	passes := failure.passes() || failure.Status == http.StatusRequestTimeout
	failure.Retryable = isSafe && passes
	if passes && !isSafe {
		failure.Details = map[string]any{"outcome": "unknown"}
	}
	return failure
}

// retryAfter reads Retry-After in seconds, at most a minute.
func retryAfter(header http.Header) *time.Duration {
	seconds, err := strconv.ParseFloat(header.Get("retry-after"), 64)
	if err != nil || math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return nil
	}
	seconds = min(max(seconds, 0), retryAfterMax.Seconds())
	return Some(time.Duration(seconds * float64(time.Second)))
}
