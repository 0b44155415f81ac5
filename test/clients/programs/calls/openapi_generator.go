// The ten calls with the code of openapi-generator (go).
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"generated.example/calls/rest"
)

func ok[T any](answer *T, _ *http.Response, err error) *T {
	if err != nil {
		if refused, is := err.(*rest.GenericOpenAPIError); is {
			panic(string(refused.Body()))
		}
		panic(err)
	}
	return answer
}

func main() {
	waba, to := os.Getenv("WABA_ID"), os.Getenv("CONTACT")
	configuration := rest.NewConfiguration()
	configuration.Servers = rest.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	configuration.AddDefaultHeader("x-partner-key", os.Getenv("PARTNER_KEY"))
	client, ctx := rest.NewAPIClient(configuration), context.Background()

	registered := ok(client.OnboardingAndUsageAPI.RegisterClient(ctx).RegisterClientRequest(
		*rest.NewRegisterClientRequest(
			waba, os.Getenv("PHONE_NUMBER_ID"), os.Getenv("ACCESS_TOKEN"))).Execute())
	listed := ok(client.OnboardingAndUsageAPI.ListClients(ctx).Limit(10).Execute())

	hello := rest.NewSendTextRequest("Hello")
	hello.SetTo(to)
	text := ok(client.MessagesAPI.SendText(ctx).XWabaId(waba).SendTextRequest(*hello).Execute())
	again := rest.NewSendTextRequest("Again")
	again.SetTo(to)
	again.SetContext(*rest.NewQuotedMessage(text.MessageId))
	quote := ok(client.MessagesAPI.SendText(ctx).XWabaId(waba).SendTextRequest(*again).Execute())

	named := rest.NewSendTemplateRequest(*rest.NewSendTemplateRequestTemplate("hello_world", "en_US"))
	named.SetTo(to)
	template := ok(client.MessagesAPI.SendTemplate(ctx).XWabaId(waba).SendTemplateRequest(*named).Execute())
	question := rest.NewCheckMessageRequest()
	question.SetKind("template")
	question.SetTo(to)
	question.SetTemplate(named.Template)
	check := ok(client.MessagesAPI.CheckMessage(ctx).XWabaId(waba).CheckMessageRequest(*question).Execute())

	events := ok(client.EventLogAPI.ListEvents(ctx).Event("message.sent").Wait(20).Execute())
	timeline := ok(client.MessagesAPI.GetTimeline(ctx, text.MessageId).Execute())
	ledger := ok(client.CostsAPI.GetLedger(ctx).Limit(5).Execute())

	other := rest.NewBroadcastContact()
	other.SetRecipient("15550100778")
	contacts := []rest.CreateBroadcastRequestContactsInner{{String: &to}, {BroadcastContact: other}}
	broadcast := ok(client.BroadcastsAPI.CreateBroadcast(ctx).XWabaId(waba).CreateBroadcastRequest(
		*rest.NewCreateBroadcastRequest("Autumn", "hello_world", "en_US", contacts)).Execute())

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
