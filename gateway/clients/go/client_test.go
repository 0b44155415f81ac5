// Retries, lists, events and webhooks against a server that fails, is stopped and started on
// request.
package bmg

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"

	"bmg.example/client/rest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type answer struct {
	status int
	header map[string]string
	body   string
}

func success(fields string) *answer {
	return &answer{200, map[string]string{"content-type": "application/json"}, `{"success":true,` + fields + `}`}
}

func refusal(status int, code string, retryable bool) *answer {
	body := fmt.Sprintf(`{"success":false,"error":{"code":%q,"message":"m","retryable":%t,"upstream_subcode":null,`+
		`"details":{"field":"to"},"doc_url":"","request_id":"r"}}`, code, retryable)
	return &answer{status, map[string]string{"content-type": "application/json", "retry-after": "0"}, body}
}

var (
	sent = success(`"message_id":"wamid.1","messages":[],"contacts":[],"timeline_url":"/"`)
	html = &answer{502, map[string]string{"content-type": "text/html", "retry-after": "0"}, "<html>"}
)

// answers starts a gateway that returns these answers in turn and repeats the last one; nil breaks
// the connection.
type answers struct {
	given    []*answer
	requests []*http.Request
	bodies   []string
}

func (server *answers) Do(request *http.Request) (*http.Response, error) {
	body := ""
	if request.Body != nil {
		content, _ := io.ReadAll(request.Body)
		body = string(content)
	}
	server.requests, server.bodies = append(server.requests, request), append(server.bodies, body)
	given := server.given[min(len(server.requests), len(server.given))-1]
	if given == nil {
		return nil, errors.New("broken")
	}
	recorder := httptest.NewRecorder()
	for name, value := range given.header {
		recorder.Header().Set(name, value)
	}
	recorder.WriteHeader(given.status)
	recorder.WriteString(given.body)
	return recorder.Result(), nil
}

func (server *answers) gateway(t *testing.T, attempts int) *Gateway {
	gateway, err := NewGateway("https://gateway.test/v1/", "k", WithAttempts(attempts), WithHTTPClient(server))
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

func (server *answers) keys() (keys []string) {
	for _, request := range server.requests {
		keys = append(keys, request.Header.Get(keyHeader))
	}
	return keys
}

func send(gateway *Gateway, key *string) (*rest.SendTextResponse, error) {
	params := &rest.SendTextParams{XWabaId: "1", IdempotencyKey: key}
	return gateway.SendTextWithResponse(context.Background(), params,
		rest.SendTextRequest{To: Some("15550100777"), Text: "x"})
}

func failureOf(t *testing.T, err error) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("not an error of the gateway: %v", err)
	}
	return failure
}

func equal(t *testing.T, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func TestRepeatsASendWithTheSameKeyAndBody(t *testing.T) {
	server := &answers{given: []*answer{refusal(503, "SERVICE_UNAVAILABLE", true), nil, html, sent}}
	result, err := send(server.gateway(t, 4), nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, result.JSON200.MessageId, "wamid.1")
	keys := server.keys()
	equal(t, len(keys[0]), 36)
	equal(t, keys, []string{keys[0], keys[0], keys[0], keys[0]})
	first := server.bodies[0]
	equal(t, strings.Contains(first, "15550100777"), true)
	equal(t, server.bodies, []string{first, first, first, first})
	equal(t, server.requests[0].Header.Get("x-partner-key"), "k")
}

func TestReturnsAnErrorThatIsNotRetryableAtOnce(t *testing.T) {
	server := &answers{given: []*answer{refusal(400, "INVALID_FIELD", false)}}
	_, err := send(server.gateway(t, 3), nil)
	failure := failureOf(t, err)
	equal(t, failure.Code, "INVALID_FIELD")
	equal(t, failure.Details, map[string]any{"field": "to"})
	equal(t, len(server.requests), 1)
}

func TestReturnsTheLastErrorInTheEnd(t *testing.T) {
	server := &answers{given: []*answer{refusal(429, "RATE_LIMIT_EXCEEDED", true)}}
	_, err := send(server.gateway(t, 3), nil)
	equal(t, failureOf(t, err).Status, 429)
	equal(t, len(server.requests), 3)
}

func TestKeepsTheKeyOfTheCaller(t *testing.T) {
	server := &answers{given: []*answer{sent}}
	if _, err := send(server.gateway(t, 3), Some("mine")); err != nil {
		t.Fatal(err)
	}
	equal(t, server.keys(), []string{"mine"})
}

func TestRepeatsNoChangeWithoutAKeyAfterABrokenConnection(t *testing.T) {
	server := &answers{given: []*answer{nil}}
	if _, err := server.gateway(t, 3).RetryAllEventsWithResponse(context.Background()); err == nil {
		t.Fatal("no error")
	}
	equal(t, server.keys(), []string{""})
}

func TestLeavesTheOutcomeOfAChangeBehindAProxyUnknown(t *testing.T) {
	server := &answers{given: []*answer{html}}
	_, err := server.gateway(t, 3).RetryAllEventsWithResponse(context.Background())
	failure := failureOf(t, err)
	equal(t, failure.Code, UnexpectedAnswer)
	equal(t, failure.Retryable, false)
	equal(t, failure.Details, map[string]any{"outcome": "unknown"})
	equal(t, len(server.requests), 1)
}

func TestTakesThePageOfAProxyForAnErrorAlsoIfItsStatusIsASuccess(t *testing.T) {
	server := &answers{given: []*answer{{200, html.header, html.body}}}
	_, err := send(server.gateway(t, 1), nil)
	equal(t, failureOf(t, err).Status, 502)
}

func TestEndsAWaitWithTheContext(t *testing.T) {
	server := &answers{given: []*answer{nil}}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := server.gateway(t, 100).ListClientsWithResponse(ctx, nil)
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
}

// take reads a sequence to its end.
func take[T any](items iter.Seq2[T, error]) (found []T, err error) {
	for item, err := range items {
		if err != nil {
			return found, err
		}
		found = append(found, item)
	}
	return found, nil
}

func queries(server *answers, name string) (values []string) {
	for _, request := range server.requests {
		values = append(values, request.URL.Query().Get(name))
	}
	return values
}

func TestPagesByOffsetEndWithTheFirstThatIsNotFull(t *testing.T) {
	server := &answers{given: []*answer{
		success(`"broadcasts":[{"id":1},{"id":2}],"total":3,"limit":2,"offset":0`),
		success(`"broadcasts":[{"id":3}],"total":3,"limit":2,"offset":2`),
	}}
	params := rest.ListBroadcastsParams{Limit: Some(int64(2))}
	broadcasts := server.gateway(t, 1).Broadcasts(context.Background(), params)
	for range 2 {
		server.requests = nil
		found, err := take(broadcasts)
		equal(t, err, nil)
		equal(t, []int64{found[0].Id, found[1].Id, found[2].Id}, []int64{1, 2, 3})
		equal(t, queries(server, "offset"), []string{"", "2"})
		equal(t, queries(server, "limit"), []string{"2", "2"})
	}
}

func TestPagesOfTheLedgerContinueWithItsNext(t *testing.T) {
	fields := `"period":{"from":"2026-09-01","to":"2026-09-30"},"months":[],"entries":[],"limit":1`
	server := &answers{given: []*answer{success(`"next":"n",` + fields), success(`"next":null,` + fields)}}
	found, err := take(server.gateway(t, 1).LedgerEntries(context.Background(), rest.GetLedgerParams{}))
	equal(t, err, nil)
	equal(t, len(found), 0)
	equal(t, queries(server, "after"), []string{"", "n"})
}

func TestPagesByCursorContinueAfterThePage(t *testing.T) {
	server := &answers{given: []*answer{
		success(`"messages":[{"message_id":"a"}],"limit":1,"paging":{"cursors":{"after":"c"}}`),
		success(`"messages":[{"message_id":"b"}],"limit":1,"paging":{"cursors":{"after":null}}`),
	}}
	found, err := take(server.gateway(t, 1).Messages(context.Background(), rest.ListMessagesParams{}))
	equal(t, err, nil)
	equal(t, []string{found[0].MessageId, found[1].MessageId}, []string{"a", "b"})
	equal(t, queries(server, "cursor"), []string{"", "c"})
}

func TestPagesEndWithTheErrorOfTheGateway(t *testing.T) {
	server := &answers{given: []*answer{refusal(400, "INVALID_FIELD", false)}}
	_, err := take(server.gateway(t, 1).Clients(context.Background(), rest.ListClientsParams{}))
	equal(t, failureOf(t, err).Code, "INVALID_FIELD")
}

const (
	envelope = `{"event":"message.received","waba_id":"1","phone_number_id":null,"timestamp":1,` +
		`"data":{"text":"谢谢"},"meta":{"event_id":"evt_1","api_version":"2","changelog":"","notices":[]}}`
	eventsCount = 10
)

func logged(seq int64) string {
	return fmt.Sprintf(`{"seq":%d,"event_id":"evt_%d","event":"message.received","logged_at":"2026-09-01T12:00:00Z",`+
		`"envelope":%s,"delivery":{"status":"delivered","attempts":1,"last_http_status":200,"last_duration_ms":1,`+
		`"delivered_at":null}}`, seq, seq, envelope)
}

// eventLog is a log of events numbered from 1, two a page; the given failures come first.
type eventLog struct {
	failures []http.HandlerFunc
	address  string
	server   *http.Server
}

func (log *eventLog) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	if len(log.failures) > 0 {
		fail := log.failures[0]
		log.failures = log.failures[1:]
		fail(writer, request)
		return
	}
	after, _ := strconv.ParseInt(request.URL.Query().Get("after"), 10, 64)
	writer.Header().Set("content-type", "application/json")
	fmt.Fprintf(writer, `{"success":true,"events":[%s,%s],"next":%d,"has_more":true,"oldest":1,"newest":%d,"limit":2}`,
		logged(after+1), logged(after+2), after+2, eventsCount)
}

func (log *eventLog) start(t *testing.T) *Gateway {
	t.Helper()
	if log.address == "" {
		log.address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", log.address)
	if err != nil {
		t.Error(err)
		return nil
	}
	log.address = listener.Addr().String()
	log.server = &http.Server{Handler: log}
	go log.server.Serve(listener)
	gateway, err := NewGateway("http://"+log.address+"/v1", "k", WithAttempts(1))
	if err != nil {
		t.Error(err)
	}
	return gateway
}

func refuse(given *answer) http.HandlerFunc {
	return func(writer http.ResponseWriter, _ *http.Request) {
		for name, value := range given.header {
			writer.Header().Set(name, value)
		}
		writer.WriteHeader(given.status)
		fmt.Fprint(writer, given.body)
	}
}

func cut(writer http.ResponseWriter, _ *http.Request) {
	connection, _, _ := writer.(http.Hijacker).Hijack()
	connection.Close()
}

func expectAll(t *testing.T, seen []int64) {
	t.Helper()
	equal(t, len(seen), eventsCount)
	for index, seq := range seen {
		equal(t, seq, int64(index+1))
	}
}

func TestEventsContinueAfterBrokenConnectionsAndServerErrors(t *testing.T) {
	log := &eventLog{failures: []http.HandlerFunc{
		cut, refuse(refusal(500, "INTERNAL_ERROR", false)), refuse(refusal(429, "RATE_LIMIT_EXCEEDED", true)),
	}}
	gateway := log.start(t)
	defer log.server.Close()
	var reasons []error
	var seen []int64
	options := EventsOptions{OnInterruption: func(reason error, _ time.Duration) { reasons = append(reasons, reason) }}
	for event, err := range gateway.Events(context.Background(), options) {
		equal(t, err, nil)
		seen = append(seen, event.Seq)
		if event.Seq == eventsCount {
			break
		}
	}
	expectAll(t, seen)
	equal(t, len(reasons), 3)
}

func TestEventsOutliveAGatewayThatIsGoneForSeconds(t *testing.T) {
	log := &eventLog{}
	gateway := log.start(t)
	var seen []int64
	for event, err := range gateway.Events(context.Background(), EventsOptions{}) {
		equal(t, err, nil)
		seen = append(seen, event.Seq)
		if event.Seq == 4 {
			log.server.Close()
			time.AfterFunc(2*time.Second, func() { log.start(t) })
		}
		if event.Seq == eventsCount {
			break
		}
	}
	log.server.Close()
	expectAll(t, seen)
}

func TestEventsEndWithAnErrorThatDoesNotPass(t *testing.T) {
	log := &eventLog{failures: []http.HandlerFunc{refuse(refusal(401, "INVALID_PARTNER_KEY", false))}}
	gateway := log.start(t)
	defer log.server.Close()
	_, err := take(gateway.Events(context.Background(), EventsOptions{}))
	equal(t, failureOf(t, err).Code, "INVALID_PARTNER_KEY")
}

func TestEventsEndWithTheContextAlsoWithoutAGateway(t *testing.T) {
	log := &eventLog{}
	gateway := log.start(t)
	log.server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	found, err := take(gateway.Events(ctx, EventsOptions{}))
	equal(t, err, nil)
	equal(t, len(found), 0)
}

func secret() string {
	key := make([]byte, 32)
	rand.Read(key)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

func signed(t *testing.T, secret string, age time.Duration) http.Header {
	t.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	signature, err := webhook.Sign("evt_1", at, []byte(envelope))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(envelope))
	headers := http.Header{}
	headers.Set("webhook-id", "evt_1")
	headers.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	headers.Set("webhook-signature", signature)
	headers.Set("x-service-signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return headers
}

var verifiers = map[string]func(http.Header, []byte, ...string) (*rest.EventEnvelope, error){
	"webhook-signature":   VerifyWebhook,
	"x-service-signature": VerifyServiceSignature,
}

func TestVerifiersReturnTheEventThatOneOfTheSecretsHasSigned(t *testing.T) {
	secrets := []string{secret(), secret()}
	for name, verify := range verifiers {
		for _, signer := range secrets {
			event, err := verify(signed(t, signer, 0), []byte(envelope), secrets...)
			if err != nil {
				t.Fatal(name, err)
			}
			equal(t, event.Event, "message.received")
			equal(t, event.Data["text"], "谢谢")
		}
	}
}

func TestVerifiersRefuseAnotherSecretAndChangedBytes(t *testing.T) {
	mine := secret()
	for name, verify := range verifiers {
		for what, refused := range map[string]struct {
			headers http.Header
			body    string
			secrets []string
		}{
			"another secret":  {signed(t, secret(), 0), envelope, []string{mine}},
			"changed bytes":   {signed(t, mine, 0), envelope + " ", []string{mine}},
			"no secret":       {signed(t, mine, 0), envelope, nil},
			"an empty secret": {signed(t, "whsec_", 0), envelope, []string{""}},
			"no headers":      {http.Header{}, envelope, []string{mine}},
		} {
			if event, err := verify(refused.headers, []byte(refused.body), refused.secrets...); err == nil {
				t.Error(name, what, event)
			}
		}
	}
	if _, err := VerifyWebhook(signed(t, mine, 10*time.Minute), []byte(envelope), mine); err == nil {
		t.Error("an old delivery is accepted")
	}
}

func TestAnEventKeepsItsFields(t *testing.T) {
	event, err := eventOf([]byte(envelope))
	equal(t, err, nil)
	again, err := json.Marshal(event)
	equal(t, err, nil)
	var first, second any
	equal(t, json.Unmarshal([]byte(envelope), &first), nil)
	equal(t, json.Unmarshal(again, &second), nil)
	equal(t, second, first)
}
