// The ten calls with the code of openapi-generator (kotlin), whose contacts of a broadcast are objects.
import com.squareup.moshi.Moshi
import okhttp3.OkHttpClient
import org.openapitools.client.apis.BroadcastsApi
import org.openapitools.client.apis.CostsApi
import org.openapitools.client.apis.EventLogApi
import org.openapitools.client.apis.MessagesApi
import org.openapitools.client.apis.OnboardingAndUsageApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.models.CheckMessageRequest
import org.openapitools.client.models.CreateBroadcastRequest
import org.openapitools.client.models.CreateBroadcastRequestContactsInner
import org.openapitools.client.models.QuotedMessage
import org.openapitools.client.models.RegisterClientRequest
import org.openapitools.client.models.SendTemplateRequest
import org.openapitools.client.models.SendTemplateRequestTemplate
import org.openapitools.client.models.SendTextRequest
import java.time.Duration

fun main() {
    val env = System.getenv()
    val base = env.getValue("BASE_URL")
    val waba = env.getValue("WABA_ID")
    val to = env.getValue("CONTACT")
    ApiClient.apiKey["x-partner-key"] = env.getValue("PARTNER_KEY")
    val http = OkHttpClient.Builder().readTimeout(Duration.ofSeconds(40)).build()
    val onboarding = OnboardingAndUsageApi(base, http)
    val messages = MessagesApi(base, http)

    val registered = onboarding.registerClient(
        RegisterClientRequest(
            wabaId = waba,
            phoneNumberId = env.getValue("PHONE_NUMBER_ID"),
            accessToken = env.getValue("ACCESS_TOKEN"),
        ),
    )
    val listed = onboarding.listClients(limit = 10)
    val text = messages.sendText(waba, SendTextRequest(to = to, text = "Hello"))
    val context = QuotedMessage(messageId = text.messageId)
    val quote = messages.sendText(waba, SendTextRequest(to = to, text = "Again", context = context))
    val hello = SendTemplateRequestTemplate(name = "hello_world", language = "en_US")
    val template = messages.sendTemplate(waba, SendTemplateRequest(to = to, template = hello))
    val question = CheckMessageRequest(kind = CheckMessageRequest.Kind.template, to = to, template = hello)
    val check = messages.checkMessage(waba, question)
    val events = EventLogApi(base, http).listEvents(event = "message.sent", wait = 20)
    val timeline = messages.getTimeline(text.messageId)
    val ledger = CostsApi(base, http).getLedger(limit = 5)
    val contacts = listOf(to, "15550100778").map { CreateBroadcastRequestContactsInner(recipient = it) }
    val broadcast = BroadcastsApi(base, http).createBroadcast(
        waba,
        CreateBroadcastRequest(
            name = "Autumn",
            templateName = "hello_world",
            templateLanguage = "en_US",
            contacts = contacts,
        ),
    )
    val result = mapOf(
        "register" to registered.client.wabaId,
        "list" to listed.clients[0].wabaId,
        "text" to text.messageId,
        "quote" to quote.messageId,
        "template" to template.messageId,
        "check" to check.deliverable.value,
        "events" to events.events[0].envelope.data["message_id"],
        "timeline" to timeline.message.kind,
        "ledger" to ledger.limit,
        "broadcast" to broadcast.total,
    )
    println(Moshi.Builder().build().adapter(Any::class.java).toJson(result))
}
