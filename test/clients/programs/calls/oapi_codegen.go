// The ten calls with the code of oapi-codegen.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"generated.example/calls/rest"
)

// The answer of a success, or a panic with the body of the error.
func ok[T any](answer *T, body []byte) *T {
	if answer == nil {
		panic(string(body))
	}
	return answer
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func pointer[T any](value T) *T { return &value }

func main() {
	waba, to, ctx := os.Getenv("WABA_ID"), os.Getenv("CONTACT"), context.Background()
	withKey := rest.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-partner-key", os.Getenv("PARTNER_KEY"))
		return nil
	})
	client := must(rest.NewClientWithResponses(os.Getenv("BASE_URL"), withKey))

	register := must(client.RegisterClientWithResponse(ctx, rest.RegisterClientRequest{
		WabaId: waba, PhoneNumberId: os.Getenv("PHONE_NUMBER_ID"), AccessToken: os.Getenv("ACCESS_TOKEN"),
	}))
	registered := register.JSON201
	if registered == nil {
		registered = ok(register.JSON200, register.Body)
	}
	list := must(client.ListClientsWithResponse(ctx, &rest.ListClientsParams{Limit: pointer(int64(10))}))
	listed := ok(list.JSON200, list.Body)

	params := &rest.SendTextParams{XWabaId: waba}
	first := must(client.SendTextWithResponse(ctx, params, rest.SendTextRequest{To: &to, Text: "Hello"}))
	text := ok(first.JSON200, first.Body)
	second := must(client.SendTextWithResponse(ctx, params, rest.SendTextRequest{
		To: &to, Text: "Again", Context: &rest.QuotedMessage{MessageId: text.MessageId},
	}))
	quote := ok(second.JSON200, second.Body)
	hello := rest.SendTemplateRequest{To: &to}
	hello.Template.Name, hello.Template.Language = "hello_world", "en_US"
	third := must(client.SendTemplateWithResponse(ctx, &rest.SendTemplateParams{XWabaId: waba}, hello))
	template := ok(third.JSON200, third.Body)
	kind := pointer(rest.CheckMessageRequestKindTemplate)
	question := rest.CheckMessageRequest{Kind: kind, To: to, Template: hello.Template}
	fourth := must(client.CheckMessageWithResponse(ctx, &rest.CheckMessageParams{XWabaId: waba}, question))
	check := ok(fourth.JSON200, fourth.Body)

	log := must(client.ListEventsWithResponse(ctx, &rest.ListEventsParams{
		Event: pointer("message.sent"), Wait: pointer(int32(20)),
	}))
	events := ok(log.JSON200, log.Body)
	story := must(client.GetTimelineWithResponse(ctx, text.MessageId, &rest.GetTimelineParams{}))
	timeline := ok(story.JSON200, story.Body)
	costs := must(client.GetLedgerWithResponse(ctx, &rest.GetLedgerParams{Limit: pointer(int64(5))}))
	ledger := ok(costs.JSON200, costs.Body)

	contacts := make([]rest.CreateBroadcastRequest_Contacts_Item, 2)
	if err := contacts[0].FromCreateBroadcastRequestContacts0(to); err != nil {
		panic(err)
	}
	if err := contacts[1].FromBroadcastContact(rest.BroadcastContact{Recipient: pointer("15550100778")}); err != nil {
		panic(err)
	}
	created := must(client.CreateBroadcastWithResponse(ctx, &rest.CreateBroadcastParams{XWabaId: waba},
		rest.CreateBroadcastRequest{
			Name: "Autumn", TemplateName: "hello_world", TemplateLanguage: "en_US", Contacts: contacts,
		}))
	broadcast := ok(created.JSON201, created.Body)

	result := map[string]any{
		"register":  registered.Client.WabaId,
		"list":      listed.Clients[0].WabaId,
		"text":      text.MessageId,
		"quote":     quote.MessageId,
		"template":  template.MessageId,
		"check":     check.Deliverable,
		"events":    events.Events[0].Envelope.Data["message_id"],
		"timeline":  timeline.Message.Kind,
		"ledger":    ledger.Limit,
		"broadcast": broadcast.Total,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
