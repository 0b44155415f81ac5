package bmg

import (
	"iter"
	"net/http"
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
