// Drives the client for the conformance tests: a command in a line of JSON, its result in another.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"time"

	bmg "bmg.example/client"
	"bmg.example/client/rest"
)

type command struct {
	Call       string            `json:"call"`
	BaseURL    string            `json:"base_url"`
	PartnerKey string            `json:"partner_key"`
	Attempts   int               `json:"attempts"`
	WabaID     string            `json:"waba_id"`
	Text       string            `json:"text"`
	Key        *string           `json:"key"`
	List       string            `json:"list"`
	Limit      *int64            `json:"limit"`
	Times      int               `json:"times"`
	After      *int64            `json:"after"`
	Of         string            `json:"of"`
	Count      int               `json:"count"`
	LimitS     float64           `json:"limit_s"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	Secrets    []string          `json:"secrets"`
}

type call func(context.Context, *bmg.Gateway, command) (any, error)

var calls = map[string]call{
	"send": func(ctx context.Context, gateway *bmg.Gateway, given command) (any, error) {
		params := &rest.SendTextParams{XWabaId: given.WabaID, IdempotencyKey: given.Key}
		body := rest.SendTextRequest{To: bmg.Some("15550100777"), Text: given.Text}
		answer, err := gateway.SendTextWithResponse(ctx, params, body)
		if err != nil {
			return nil, err
		}
		return answer.JSON200.MessageId, nil
	},
	"retry_all": func(ctx context.Context, gateway *bmg.Gateway, _ command) (any, error) {
		answer, err := gateway.RetryAllEventsWithResponse(ctx)
		if err != nil {
			return nil, err
		}
		return answer.JSON200, nil
	},
	"download": func(ctx context.Context, gateway *bmg.Gateway, given command) (any, error) {
		params := &rest.DownloadMediaParams{XWabaId: given.WabaID}
		answer, err := gateway.DownloadMediaWithResponse(ctx, "1", params)
		if err != nil {
			return nil, err
		}
		return string(answer.Body), nil
	},
	"list":   list,
	"events": events,
	"verify_webhook": func(_ context.Context, _ *bmg.Gateway, given command) (any, error) {
		return bmg.VerifyWebhook(given.headers(), []byte(given.Body), given.Secrets...)
	},
	"verify_service_signature": func(_ context.Context, _ *bmg.Gateway, given command) (any, error) {
		return bmg.VerifyServiceSignature(given.headers(), []byte(given.Body), given.Secrets...)
	},
}

func (given command) headers() http.Header {
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	return headers
}

func list(ctx context.Context, gateway *bmg.Gateway, given command) (any, error) {
	switch given.List {
	case "broadcasts":
		params := rest.ListBroadcastsParams{Limit: given.Limit}
		return ids(gateway.Broadcasts(ctx, params), given, func(one rest.Broadcast) any { return one.Id })
	case "messages":
		params := rest.ListMessagesParams{Limit: given.Limit}
		return ids(gateway.Messages(ctx, params), given, func(one rest.Message) any { return one.MessageId })
	case "ledger":
		params := rest.GetLedgerParams{Limit: given.Limit}
		return ids(gateway.LedgerEntries(ctx, params), given, func(one rest.LedgerEntry) any { return one.MessageId })
	case "audit":
		params := rest.ListAuditParams{Limit: given.Limit}
		return ids(gateway.Audit(ctx, params), given, func(one rest.AuditRecord) any { return one.Id })
	case "clients":
		params := rest.ListClientsParams{Limit: given.Limit}
		return ids(gateway.Clients(ctx, params), given, func(one rest.ClientRecord) any { return one.WabaId })
	}
	return nil, fmt.Errorf("no list %s", given.List)
}

// ids reads the same sequence as often as the command states.
func ids[T any](items iter.Seq2[T, error], given command, id func(T) any) (any, error) {
	found := []any{}
	for range max(given.Times, 1) {
		for item, err := range items {
			if err != nil {
				return nil, err
			}
			found = append(found, id(item))
		}
	}
	return found, nil
}

func events(ctx context.Context, gateway *bmg.Gateway, given command) (any, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sequence, messageIDs := []int64{}, []any{}
	interruptions, seen := 0, 0
	options := bmg.EventsOptions{After: given.After, OnInterruption: func(error, time.Duration) { interruptions++ }}
	for event, err := range gateway.Events(ctx, options) {
		if err != nil {
			return nil, err
		}
		sequence = append(sequence, event.Seq)
		if event.Envelope.Event == given.Of {
			messageIDs = append(messageIDs, event.Envelope.Data["message_id"])
		}
		if given.Of == "" || event.Envelope.Event == given.Of {
			seen++
		}
		if seen == given.Count {
			stop()
		}
	}
	return map[string]any{"sequence": sequence, "message_ids": messageIDs, "interruptions": interruptions}, nil
}

func run(given command) map[string]any {
	gateway, err := bmg.NewGateway(given.BaseURL, given.PartnerKey, bmg.WithAttempts(given.Attempts))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(given.LimitS*float64(time.Second)))
	defer cancel()
	value, err := calls[given.Call](ctx, gateway, given)
	if err == nil {
		return map[string]any{"value": value}
	}
	failure := map[string]any{"message": err.Error()}
	var known *bmg.Error
	if errors.As(err, &known) {
		failure = map[string]any{"code": known.Code, "status": known.Status, "retryable": known.Retryable,
			"details": known.Details, "message": known.Message}
	}
	return map[string]any{"failure": failure}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		given := command{BaseURL: "http://127.0.0.1:9/v1", PartnerKey: "k", Attempts: 1, WabaID: "1", Text: "x", LimitS: 300}
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			panic(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(run(given)); err != nil {
			panic(err)
		}
	}
}
