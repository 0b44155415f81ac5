// Sends texts and reads the event log while the gateway is killed and started: prints a line for
// each send, and in the end what it sent and saw, as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	bmg "bmg.example/client"
	"bmg.example/client/rest"
)

// Enough attempts for an outage of minutes.
const attempts = 12

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// seen is what the reader has seen so far.
type seen struct {
	sync.Mutex
	sequence      []int64
	reported      map[string]bool
	interruptions int
}

func (found *seen) has(ids []string) bool {
	found.Lock()
	defer found.Unlock()
	for _, id := range ids {
		if !found.reported[id] {
			return false
		}
	}
	return true
}

func (found *seen) read(ctx context.Context, reader *bmg.Gateway) {
	options := bmg.EventsOptions{After: bmg.Some(int64(0)), OnInterruption: func(error, time.Duration) {
		found.Lock()
		defer found.Unlock()
		found.interruptions++
	}}
	for event, err := range reader.Events(ctx, options) {
		must(event, err)
		found.Lock()
		found.sequence = append(found.sequence, event.Seq)
		if event.Envelope.Event == "message.sent" {
			found.reported[event.Envelope.Data["message_id"].(string)] = true
		}
		found.Unlock()
	}
}

func main() {
	url, key := os.Getenv("BASE_URL"), os.Getenv("PARTNER_KEY")
	count := must(strconv.Atoi(os.Getenv("COUNT")))
	limit := must(time.ParseDuration(os.Getenv("LIMIT_S") + "s"))
	gateway := must(bmg.NewGateway(url, key, bmg.WithAttempts(attempts)))
	// Single requests are not retried: the sequence itself has to outlive the outage.
	reader := must(bmg.NewGateway(url, key, bmg.WithAttempts(1)))
	ctx, stop := context.WithCancel(context.Background())
	found := &seen{reported: map[string]bool{}}
	var ended sync.WaitGroup
	ended.Add(1)
	go func() {
		defer ended.Done()
		found.read(ctx, reader)
	}()
	params := &rest.SendTextParams{XWabaId: os.Getenv("WABA_ID")}
	var sent []string
	for number := range count {
		body := rest.SendTextRequest{To: bmg.Some("15550100777"), Text: fmt.Sprint("Number ", number)}
		answer := must(gateway.SendTextWithResponse(context.Background(), params, body))
		sent = append(sent, answer.JSON200.MessageId)
		fmt.Println("sent", number)
		time.Sleep(100 * time.Millisecond)
	}
	deadline := time.Now().Add(limit)
	for !found.has(sent) && time.Now().Before(deadline) {
		time.Sleep(200 * time.Millisecond)
	}
	stop()
	ended.Wait()
	reported := []string{}
	for id := range found.reported {
		reported = append(reported, id)
	}
	sort.Strings(reported)
	result := map[string]any{
		"sent": sent, "reported": reported, "sequence": found.sequence, "interruptions": found.interruptions,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
