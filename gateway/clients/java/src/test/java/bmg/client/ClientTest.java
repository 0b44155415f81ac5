package bmg.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bmg.client.rest.ApiCallback;
import bmg.client.rest.ApiException;
import bmg.client.rest.api.BroadcastsApi;
import bmg.client.rest.api.CostsApi;
import bmg.client.rest.api.MessagesApi;
import bmg.client.rest.api.WebhookRecoveryApi;
import bmg.client.rest.model.EventEnvelope;
import bmg.client.rest.model.LoggedEvent;
import bmg.client.rest.model.SendResult;
import bmg.client.rest.model.SendTextRequest;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Retries, lists, events and webhooks against a server that fails, is stopped and started on
 * request.
 */
class ClientTest {
  private static final int EVENTS = 10;
  private static final String SENT =
      "{\"success\":true,\"message_id\":\"wamid.1\",\"messages\":[],\"contacts\":[],\"timeline_url\":\"/\","
          + "\"a_field_of_tomorrow\":1}";
  private static final String ENVELOPE =
      "{\"event\":\"message.received\",\"waba_id\":\"1\",\"phone_number_id\":null,\"timestamp\":1,"
          + "\"data\":{\"text\":\"谢谢\"},\"meta\":{\"event_id\":\"evt_1\",\"api_version\":\"2\","
          + "\"changelog\":\"\",\"notices\":[]}}";

  /** An answer of the server; without a type it breaks the connection. */
  record Answer(int status, String type, String body) {}

  private static final Answer BROKEN = new Answer(0, null, null);
  private static final Answer HTML = new Answer(502, "text/html", "<html>");

  private static Answer json(String body) {
    return new Answer(200, "application/json", body);
  }

  private static Answer refusal(int status, String code, boolean retryable) {
    String body =
        "{\"success\":false,\"error\":{\"code\":\"%s\",\"message\":\"m\",\"retryable\":%b,\"upstream_subcode\":null,"
            + "\"details\":{\"field\":\"to\"},\"doc_url\":\"\",\"request_id\":\"r\"}}";
    return new Answer(status, "application/json", String.format(body, code, retryable));
  }

  /** A request that the server received. */
  record Asked(String key, String partnerKey, String query, String body) {}

  private final List<Asked> asked = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();
  private HttpServer server;
  private int port = 0;

  @AfterEach
  void stop() {
    if (server != null) server.stop(0);
  }

  /** Returns these answers in turn and repeats the last one. */
  private Gateway gateway(int attempts, Answer... given) throws IOException {
    answers.addAll(List.of(given));
    start(this::inTurn);
    return new Gateway("http://127.0.0.1:" + port + "/v1/", "k", attempts);
  }

  private void start(com.sun.net.httpserver.HttpHandler handler) throws IOException {
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    port = server.getAddress().getPort();
    server.createContext("/", handler);
    server.start();
  }

  private void inTurn(HttpExchange exchange) throws IOException {
    asked.add(
        new Asked(
            exchange.getRequestHeaders().getFirst("Idempotency-Key"),
            exchange.getRequestHeaders().getFirst("x-partner-key"),
            exchange.getRequestURI().getQuery(),
            new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
    reply(exchange, answers.get(Math.min(asked.size(), answers.size()) - 1));
  }

  private static void reply(HttpExchange exchange, Answer answer) throws IOException {
    if (answer.type() != null) {
      byte[] content = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("content-type", answer.type());
      exchange.getResponseHeaders().set("retry-after", "0");
      exchange.sendResponseHeaders(answer.status(), content.length);
      exchange.getResponseBody().write(content);
    }
    exchange.close();
  }

  private static SendResult send(Gateway gateway, String key) throws ApiException {
    SendTextRequest body = new SendTextRequest().to("15550100777").text("x");
    return new MessagesApi(gateway).sendText("1", body, null, key);
  }

  @Test
  void repeatsASendWithTheSameKeyAndBody() throws Exception {
    Gateway gateway =
        gateway(4, refusal(503, "SERVICE_UNAVAILABLE", true), BROKEN, HTML, json(SENT));
    assertEquals("wamid.1", send(gateway, null).getMessageId());
    assertEquals(4, asked.size());
    assertEquals(1, new HashSet<>(asked).size());
    assertEquals(36, asked.get(0).key().length());
    assertEquals("k", asked.get(0).partnerKey());
    assertTrue(asked.get(0).body().contains("15550100777"));
  }

  @Test
  void throwsAnErrorThatIsNotRetryableAtOnce() throws Exception {
    Gateway gateway = gateway(3, refusal(400, "INVALID_FIELD", false));
    GatewayException failure = assertThrows(GatewayException.class, () -> send(gateway, null));
    assertEquals("INVALID_FIELD", failure.code());
    assertEquals(Map.of("field", "to"), failure.details());
    assertEquals(1, asked.size());
  }

  @Test
  void throwsTheLastErrorInTheEnd() throws Exception {
    Gateway gateway = gateway(3, refusal(429, "RATE_LIMIT_EXCEEDED", true));
    GatewayException failure = assertThrows(GatewayException.class, () -> send(gateway, null));
    assertEquals(429, failure.status());
    assertEquals(3, asked.size());
  }

  @Test
  void givesACallbackTheErrorAsTheCause() throws Exception {
    Gateway gateway = gateway(3, refusal(503, "SERVICE_UNAVAILABLE", true), refusal(400, "INVALID_FIELD", false));
    CompletableFuture<Throwable> cause = new CompletableFuture<>();
    SendTextRequest body = new SendTextRequest().to("15550100777").text("x");
    new MessagesApi(gateway)
        .sendTextAsync(
            "1",
            body,
            null,
            null,
            new ApiCallback<SendResult>() {
              @Override
              public void onFailure(ApiException e, int status, Map<String, List<String>> headers) {
                cause.complete(e.getCause());
              }

              @Override
              public void onSuccess(SendResult result, int status, Map<String, List<String>> headers) {
                cause.complete(null);
              }

              @Override
              public void onUploadProgress(long written, long length, boolean done) {}

              @Override
              public void onDownloadProgress(long read, long length, boolean done) {}
            });
    GatewayException failure = (GatewayException) cause.get(10, TimeUnit.SECONDS);
    assertEquals("INVALID_FIELD", failure.code());
    assertEquals(2, asked.size());
  }

  @Test
  void keepsTheKeyOfTheCaller() throws Exception {
    send(gateway(3, json(SENT)), "mine");
    assertEquals("mine", asked.get(0).key());
  }

  @Test
  void repeatsNoChangeWithoutAKeyAfterABrokenConnection() throws Exception {
    Gateway gateway = gateway(3, BROKEN);
    assertThrows(ApiException.class, () -> new WebhookRecoveryApi(gateway).retryAllEvents());
    assertEquals(1, asked.size());
    assertNull(asked.get(0).key());
  }

  @Test
  void leavesTheOutcomeOfAChangeBehindAProxyUnknown() throws Exception {
    Gateway gateway = gateway(3, HTML);
    GatewayException failure =
        assertThrows(
            GatewayException.class, () -> new WebhookRecoveryApi(gateway).retryAllEvents());
    assertEquals(GatewayException.UNEXPECTED_ANSWER, failure.code());
    assertFalse(failure.retryable());
    assertEquals(Map.of("outcome", "unknown"), failure.details());
    assertEquals(1, asked.size());
  }

  private static String broadcast(int id) {
    return ("{'id':" + id + ",'name':'n','template_name':'t','template_language':'en','status':'completed',"
            + "'waba_id':'1','phone_number_id':'2','total':1,'sent':1,'delivered':1,'failed':0,'created_at':null,"
            + "'started_at':null,'completed_at':null,'scheduled_at':null}")
        .replace('\'', '"');
  }

  @Test
  void pagesByOffsetEndWithTheFirstThatIsNotFull() throws Exception {
    String page = "{\"success\":true,\"total\":3,\"limit\":2,\"offset\":%d,\"broadcasts\":[%s]}";
    BroadcastsApi api =
        new BroadcastsApi(
            gateway(
                1,
                json(String.format(page, 0, broadcast(1) + "," + broadcast(2))),
                json(String.format(page, 2, broadcast(3)))));
    List<Long> ids = new ArrayList<>();
    Lists.broadcasts(offset -> api.listBroadcasts(2L, offset, null)).forEach(b -> ids.add(b.getId()));
    assertEquals(List.of(1L, 2L, 3L), ids);
    assertEquals("limit=2&offset=2", asked.get(1).query());
  }

  @Test
  void pagesOfTheLedgerContinueWithItsNext() throws Exception {
    String page =
        "{\"success\":true,\"period\":{\"from\":\"2026-09-01\",\"to\":\"2026-09-30\"},\"months\":[],"
            + "\"entries\":[],\"limit\":1,\"next\":%s}";
    CostsApi api =
        new CostsApi(
            gateway(1, json(String.format(page, "\"n\"")), json(String.format(page, "null"))));
    assertFalse(
        Lists.ledger(after -> api.getLedger(null, null, null, null, after, null))
            .iterator()
            .hasNext());
    assertEquals(2, asked.size());
    assertEquals("after=n", asked.get(1).query());
  }

  private static String logged(long seq) {
    return String.format(
        "{\"seq\":%d,\"event_id\":\"evt_%d\",\"event\":\"message.received\","
            + "\"logged_at\":\"2026-09-01T12:00:00.000Z\",\"envelope\":%s,\"delivery\":{\"status\":\"delivered\","
            + "\"attempts\":1,\"last_http_status\":200,\"last_duration_ms\":1,\"delivered_at\":null}}",
        seq, seq, ENVELOPE);
  }

  /** A log of events numbered from 1, two a page; the given failures come first. */
  private Gateway log(Answer... failures) throws IOException {
    answers.addAll(List.of(failures));
    start(this::page);
    return new Gateway("http://127.0.0.1:" + port + "/v1", "k", 1);
  }

  private void page(HttpExchange exchange) throws IOException {
    if (!answers.isEmpty()) {
      reply(exchange, answers.remove(0));
      return;
    }
    String query = String.valueOf(exchange.getRequestURI().getQuery());
    long after = query.contains("after=") ? Long.parseLong(query.replaceAll(".*after=(\\d+).*", "$1")) : 0;
    String events = logged(after + 1) + "," + logged(after + 2);
    reply(
        exchange,
        json(
            String.format(
                "{\"success\":true,\"events\":[%s],\"next\":%d,\"has_more\":true,\"oldest\":1,\"newest\":%d,\"limit\":2}",
                events, after + 2, EVENTS)));
  }

  private static void assertAll(List<Long> seen) {
    assertEquals(EVENTS, seen.size());
    for (int index = 0; index < EVENTS; index++) assertEquals(index + 1, seen.get(index));
  }

  @Test
  void eventsContinueAfterBrokenConnectionsAndServerErrors() throws Exception {
    Gateway gateway =
        log(BROKEN, refusal(500, "INTERNAL_ERROR", false), refusal(429, "RATE_LIMIT_EXCEEDED", true));
    List<Exception> reasons = new ArrayList<>();
    List<Long> seen = new ArrayList<>();
    EventsOptions options = new EventsOptions().onInterruption((reason, wait) -> reasons.add(reason));
    for (LoggedEvent event : gateway.events(options)) {
      seen.add(event.getSeq());
      if (event.getSeq() == EVENTS) break;
    }
    assertAll(seen);
    assertEquals(3, reasons.size());
  }

  @Test
  void eventsOutliveAGatewayThatIsGoneForSeconds() throws Exception {
    Gateway gateway = log();
    List<Long> seen = new ArrayList<>();
    for (LoggedEvent event : gateway.events()) {
      seen.add(event.getSeq());
      if (event.getSeq() == 4) {
        server.stop(0);
        new Timer(true)
            .schedule(
                new TimerTask() {
                  @Override
                  public void run() {
                    try {
                      start(ClientTest.this::page);
                    } catch (IOException e) {
                      throw new IllegalStateException(e);
                    }
                  }
                },
                2_000);
      }
      if (event.getSeq() == EVENTS) break;
    }
    assertAll(seen);
  }

  @Test
  void eventsThrowWhatDoesNotPassByItself() throws Exception {
    Gateway gateway = log(refusal(401, "INVALID_PARTNER_KEY", false));
    GatewayException failure =
        assertThrows(GatewayException.class, () -> gateway.events().iterator().hasNext());
    assertEquals("INVALID_PARTNER_KEY", failure.code());
  }

  @Test
  void eventsEndWhenTheyAreClosedAlsoWithoutAGateway() throws Exception {
    Gateway gateway = log();
    server.stop(0);
    EventLog events = gateway.events();
    new Timer(true)
        .schedule(
            new TimerTask() {
              @Override
              public void run() {
                events.close();
              }
            },
            300);
    assertFalse(events.iterator().hasNext());
  }

  private static String secret() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    return "whsec_" + Base64.getEncoder().encodeToString(key);
  }

  private static byte[] hmac(byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  private static Map<String, List<String>> headers(String secret, long ageS) throws Exception {
    String timestamp = String.valueOf(System.currentTimeMillis() / 1000 - ageS);
    byte[] key = Base64.getDecoder().decode(secret.substring(Webhook.SECRET_PREFIX.length()));
    String signature =
        Base64.getEncoder().encodeToString(hmac(key, "evt_1." + timestamp + "." + ENVELOPE));
    String service =
        HexFormat.of().formatHex(hmac(secret.getBytes(StandardCharsets.UTF_8), ENVELOPE));
    return Map.of(
        "webhook-id", List.of("evt_1"),
        "Webhook-Timestamp", List.of(timestamp),
        "webhook-signature", List.of("v1," + signature),
        "X-Service-Signature", List.of("sha256=" + service));
  }

  @Test
  void verifiersReturnTheEventThatOneOfTheSecretsHasSigned() throws Exception {
    List<String> secrets = List.of(secret(), secret());
    for (String secret : secrets) {
      EventEnvelope event = Webhooks.verify(headers(secret, 0), ENVELOPE, secrets);
      assertEquals("谢谢", event.getData().get("text"));
      EventEnvelope same = Webhooks.verifyServiceSignature(headers(secret, 0), ENVELOPE, secrets);
      assertEquals("message.received", same.getEvent());
    }
  }

  private static void assertRefused(
      Map<String, List<String>> headers, String body, List<String> secrets) {
    assertThrows(
        WebhookVerificationException.class, () -> Webhooks.verify(headers, body, secrets));
    assertThrows(
        WebhookVerificationException.class,
        () -> Webhooks.verifyServiceSignature(headers, body, secrets));
  }

  @Test
  void verifiersRefuseAnotherSecretChangedTextAndAnOldDelivery() throws Exception {
    String mine = secret();
    assertRefused(headers(secret(), 0), ENVELOPE, List.of(mine));
    assertRefused(headers(mine, 0), ENVELOPE + " ", List.of(mine));
    assertRefused(headers(mine, 0), ENVELOPE, List.of());
    assertRefused(headers(mine, 0), ENVELOPE, List.of(""));
    assertRefused(Map.of(), ENVELOPE, List.of(mine));
    assertThrows(
        WebhookVerificationException.class,
        () -> Webhooks.verify(headers(mine, 600), ENVELOPE, List.of(mine)));
  }
}
