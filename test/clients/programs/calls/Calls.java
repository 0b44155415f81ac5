// The ten calls with the code of openapi-generator (java).
import com.google.gson.Gson;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.BroadcastsApi;
import org.openapitools.client.api.CostsApi;
import org.openapitools.client.api.EventLogApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.OnboardingAndUsageApi;
import org.openapitools.client.model.BroadcastContact;
import org.openapitools.client.model.CheckMessageRequest;
import org.openapitools.client.model.CreateBroadcastRequest;
import org.openapitools.client.model.CreateBroadcastRequestContactsInner;
import org.openapitools.client.model.QuotedMessage;
import org.openapitools.client.model.RegisterClientRequest;
import org.openapitools.client.model.SendTemplateRequest;
import org.openapitools.client.model.SendTemplateRequestTemplate;
import org.openapitools.client.model.SendTextRequest;

public class Calls {
  public static void main(String[] arguments) throws ApiException {
    Map<String, String> env = System.getenv();
    String waba = env.get("WABA_ID");
    String to = env.get("CONTACT");
    ApiClient client = new ApiClient().setBasePath(env.get("BASE_URL"));
    client.setApiKey(env.get("PARTNER_KEY"));
    client.setReadTimeout(40_000);
    var onboarding = new OnboardingAndUsageApi(client);
    var messages = new MessagesApi(client);

    var registered =
        onboarding.registerClient(
            new RegisterClientRequest()
                .wabaId(waba)
                .phoneNumberId(env.get("PHONE_NUMBER_ID"))
                .accessToken(env.get("ACCESS_TOKEN")));
    var listed = onboarding.listClients(10L, null, null);
    var text = messages.sendText(waba, new SendTextRequest().to(to).text("Hello"), null, null);
    var context = new QuotedMessage().messageId(text.getMessageId());
    var quote =
        messages.sendText(
            waba, new SendTextRequest().to(to).text("Again").context(context), null, null);
    var hello = new SendTemplateRequestTemplate().name("hello_world").language("en_US");
    var template =
        messages.sendTemplate(waba, new SendTemplateRequest().to(to).template(hello), null, null);
    var question =
        new CheckMessageRequest()
            .kind(CheckMessageRequest.KindEnum.TEMPLATE)
            .to(to)
            .template(hello);
    var check = messages.checkMessage(waba, question, null);
    var events =
        new EventLogApi(client).listEvents(null, null, "message.sent", null, null, 20, null);
    var timeline = messages.getTimeline(text.getMessageId(), null, null);
    var ledger = new CostsApi(client).getLedger(null, null, null, 5L, null, null);
    var contacts =
        List.of(
            new CreateBroadcastRequestContactsInner(to),
            new CreateBroadcastRequestContactsInner(
                new BroadcastContact().recipient("15550100778")));
    var broadcast =
        new BroadcastsApi(client)
            .createBroadcast(
                waba,
                new CreateBroadcastRequest()
                    .name("Autumn")
                    .templateName("hello_world")
                    .templateLanguage("en_US")
                    .contacts(contacts),
                null,
                null);

    Map<String, Object> result = new LinkedHashMap<>();
    result.put("register", registered.getClient().getWabaId());
    result.put("list", listed.getClients().get(0).getWabaId());
    result.put("text", text.getMessageId());
    result.put("quote", quote.getMessageId());
    result.put("template", template.getMessageId());
    result.put("check", check.getDeliverable().getValue());
    result.put("events", events.getEvents().get(0).getEnvelope().getData().get("message_id"));
    result.put("timeline", timeline.getMessage().getKind());
    result.put("ledger", ledger.getLimit());
    result.put("broadcast", broadcast.getTotal());
    System.out.println(new Gson().toJson(result));
  }
}
