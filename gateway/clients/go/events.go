package bmg

import (
	"context"
	"errors"
	"iter"
	"time"

	"bmg.example/client/rest"
)

const interruptionWaitMax = 30 * time.Second

// EventsOptions selects the events to read and the position to start from.
type EventsOptions struct {
	// After is the position after which reading begins: the Seq of the last event that you handled. If
	// it is nil, reading begins with the oldest event that is kept.
	After *int64
	// Event has the names of the wanted events, separated by commas. Empty: all events.
	Event string
	// Limit is the number of events that are fetched at once. 0: the gateway's default.
	Limit int64
	// OnInterruption is called before each wait during an interruption, for logging.
	OnInterruption func(reason error, wait time.Duration)
}

// Events returns the events of the log one by one; it waits for new ones, and for the gateway.
// Store Seq together with the result of handling an event, and pass it as After to continue. The
// sequence ends without an error when the context is cancelled, and with an error only if the error
// is permanent, such as a refused key.
func (gateway *Gateway) Events(ctx context.Context, options EventsOptions) iter.Seq2[rest.LoggedEvent, error] {
	return func(yield func(rest.LoggedEvent, error) bool) {
		params := options.params()
		failures := 0
		for ctx.Err() == nil {
			answer, err := gateway.ListEventsWithResponse(ctx, &params)
			if ctx.Err() != nil {
				return
			}
			if err != nil || answer.JSON200 == nil {
				if err = missing(err); !isInterruption(err) {
					yield(rest.LoggedEvent{}, err)
					return
				}
				failures++
				options.pause(ctx, err, failures)
				continue
			}
			failures = 0
			for _, event := range answer.JSON200.Events {
				// A cancelled context ends the sequence between two events: the next one was not handled.
				if ctx.Err() != nil || !yield(event, nil) {
					return
				}
			}
			params.After = &answer.JSON200.Next
		}
	}
}

func (options EventsOptions) params() rest.ListEventsParams {
	params := rest.ListEventsParams{After: options.After, Wait: Some(int32(waitS))}
	if options.Event != "" {
		params.Event = &options.Event
	}
	if options.Limit != 0 {
		params.Limit = &options.Limit
	}
	return params
}

func (options EventsOptions) pause(ctx context.Context, reason error, failures int) {
	wait := min(backoff(failures), interruptionWaitMax)
	var failure *Error
	if errors.As(reason, &failure) && failure.RetryAfter != nil {
		wait = *failure.RetryAfter
	}
	if options.OnInterruption != nil {
		options.OnInterruption(reason, wait)
	}
	// A cancelled context ends the wait; the caller's loop checks for it.
	_ = sleep(ctx, wait)
}

// isInterruption reports whether an error is temporary: a failed connection or an unreachable
// gateway.
func isInterruption(err error) bool {
	var failure *Error
	return !errors.As(err, &failure) || failure.passes()
}
