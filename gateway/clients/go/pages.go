package bmg

import (
	"context"
	"iter"
	"net/http"

	"bmg.example/client/rest"
)

// next changes the parameters to those of the following page; it returns false after the last page.
type next func() bool

// pages returns the items of a list, from its first page to its last. An error ends it.
func pages[P, T any](params P, read func(*P) ([]T, next, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		current := params
		for {
			items, following, err := read(&current)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if !following() {
				return
			}
		}
	}
}

// missing returns the reason for an answer without a page.
func missing(err error) error {
	if err != nil {
		return err
	}
	message := "the document has no such answer"
	return &Error{Status: http.StatusBadGateway, Code: UnexpectedAnswer, Message: message}
}

func byCursor(parameter **string, after *string) next {
	return func() bool {
		*parameter = after
		return after != nil
	}
}

func byOffset(parameter **int32, offset int64, items int, limit int64) next {
	return func() bool {
		*parameter = Some(int32(offset) + int32(items))
		return int64(items) >= limit
	}
}

// Clients returns the clients of all pages.
func (gateway *Gateway) Clients(
	ctx context.Context, params rest.ListClientsParams,
) iter.Seq2[rest.ClientRecord, error] {
	return pages(params, func(params *rest.ListClientsParams) ([]rest.ClientRecord, next, error) {
		answer, err := gateway.ListClientsWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Clients, byOffset(&params.Offset, page.Offset, len(page.Clients), page.Limit), nil
	})
}

// Broadcasts returns the broadcasts of all pages.
func (gateway *Gateway) Broadcasts(
	ctx context.Context, params rest.ListBroadcastsParams,
) iter.Seq2[rest.Broadcast, error] {
	return pages(params, func(params *rest.ListBroadcastsParams) ([]rest.Broadcast, next, error) {
		answer, err := gateway.ListBroadcastsWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Broadcasts, byOffset(&params.Offset, page.Offset, len(page.Broadcasts), page.Limit), nil
	})
}

// Messages returns the messages of all pages.
func (gateway *Gateway) Messages(
	ctx context.Context, params rest.ListMessagesParams,
) iter.Seq2[rest.Message, error] {
	return pages(params, func(params *rest.ListMessagesParams) ([]rest.Message, next, error) {
		answer, err := gateway.ListMessagesWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Messages, byCursor(&params.Cursor, page.Paging.Cursors.After), nil
	})
}

// FailedEvents returns the events of all pages whose delivery failed.
func (gateway *Gateway) FailedEvents(
	ctx context.Context, params rest.ListFailedEventsParams,
) iter.Seq2[rest.FailedEvent, error] {
	return pages(params, func(params *rest.ListFailedEventsParams) ([]rest.FailedEvent, next, error) {
		answer, err := gateway.ListFailedEventsWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Events, byCursor(&params.Cursor, page.Paging.Cursors.After), nil
	})
}

// LedgerEntries returns the entries of all pages of the ledger.
func (gateway *Gateway) LedgerEntries(
	ctx context.Context, params rest.GetLedgerParams,
) iter.Seq2[rest.LedgerEntry, error] {
	return pages(params, func(params *rest.GetLedgerParams) ([]rest.LedgerEntry, next, error) {
		answer, err := gateway.GetLedgerWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Entries, byCursor(&params.After, page.Next), nil
	})
}

// Blocked returns the blocked people of all pages.
func (gateway *Gateway) Blocked(
	ctx context.Context, params rest.ListBlockedParams,
) iter.Seq2[rest.ListBlockedAnswer_Blocked_Item, error] {
	type item = rest.ListBlockedAnswer_Blocked_Item
	return pages(params, func(params *rest.ListBlockedParams) ([]item, next, error) {
		answer, err := gateway.ListBlockedWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Blocked, byCursor(&params.After, page.Paging.Cursors.After), nil
	})
}

// Groups returns the groups of all pages.
func (gateway *Gateway) Groups(
	ctx context.Context, params rest.ListGroupsParams,
) iter.Seq2[rest.ListGroupsAnswer_Groups_Item, error] {
	type item = rest.ListGroupsAnswer_Groups_Item
	return pages(params, func(params *rest.ListGroupsParams) ([]item, next, error) {
		answer, err := gateway.ListGroupsWithResponse(ctx, params)
		if err != nil || answer.JSON200 == nil {
			return nil, nil, missing(err)
		}
		page := answer.JSON200
		return page.Groups, byCursor(&params.After, page.Paging.Cursors.After), nil
	})
}
