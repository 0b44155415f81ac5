// Drives the client for the conformance tests: a command in a line of JSON, its result in another.
import bmg.client.EventsOptions;
import bmg.client.Gateway;
import bmg.client.GatewayException;
import bmg.client.Lists;
import bmg.client.Webhooks;
import bmg.client.rest.ApiCallback;
import bmg.client.rest.ApiException;
import bmg.client.rest.JSON;
import bmg.client.rest.api.*;
import bmg.client.rest.model.*;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

public class Driver {
  private static final Gson GSON = new GsonBuilder().serializeNulls().create();

  /** A command; what it leaves out has these values. */
  static class Command {
    String call;
    String base_url = "http://127.0.0.1:9/v1";
    String partner_key = "k";
    int attempts = 1;
    String waba_id = "1";
    String text = "x";
    String key;
    String list;
    Long limit;
    int times = 1;
    Long after;
    String of;
    int count;
    double limit_s = 60;
    Map<String, String> headers;
    String body;
    List<String> secrets;
  }

  public static void main(String[] arguments) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var output = new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      output.println(GSON.toJson(run(GSON.fromJson(line, Command.class))));
    }
    // The threads of a call with a callback would keep the program for a minute.
    System.exit(0);
  }

  private static Object run(Command given) {
    try {
      var gateway = new Gateway(given.base_url, given.partner_key, given.attempts);
      return Map.of("value", call(gateway, given));
    } catch (Throwable thrown) {
      var failure = thrown;
      while (failure.getCause() != null && !(failure instanceof GatewayException)) failure = failure.getCause();
      if (failure instanceof GatewayException known) return Map.of("failure", describe(known));
      return Map.of("failure", Map.of("message", String.valueOf(failure.getMessage())));
    }
  }

  private static Object describe(GatewayException failure) {
    var fields = new java.util.HashMap<String, Object>();
    fields.put("code", failure.code());
    fields.put("status", failure.status());
    fields.put("retryable", failure.retryable());
    fields.put("details", failure.details());
    fields.put("message", failure.fields().get("message"));
    return fields;
  }

  private static Object call(Gateway gateway, Command given) throws Exception {
    return switch (given.call) {
      case "send" -> new MessagesApi(gateway)
          .sendText(given.waba_id, text(given), null, given.key)
          .getMessageId();
      case "send_later" -> later(gateway, given);
      case "retry_all" -> new WebhookRecoveryApi(gateway).retryAllEvents();
      case "download" -> Files.readString(
          new MediaAndContactsApi(gateway).downloadMedia("1", given.waba_id, null).toPath());
      case "list" -> list(gateway, given);
      case "events" -> events(gateway, given);
      case "verify_webhook" -> tree(Webhooks.verify(headers(given), given.body, given.secrets));
      case "verify_service_signature" -> tree(
          Webhooks.verifyServiceSignature(headers(given), given.body, given.secrets));
      default -> throw new IllegalArgumentException("no call " + given.call);
    };
  }

  private static SendTextRequest text(Command given) {
    return new SendTextRequest().to("15550100777").text(given.text);
  }

  private static Object tree(EventEnvelope event) {
    return JSON.getGson().newBuilder().serializeNulls().create().toJsonTree(event);
  }

  private static Map<String, List<String>> headers(Command given) {
    var headers = new java.util.HashMap<String, List<String>>();
    given.headers.forEach((name, value) -> headers.put(name, List.of(value)));
    return headers;
  }

  private static <T> List<Object> ids(Command given, Iterable<T> items, Function<T, Object> id) {
    var found = new ArrayList<Object>();
    for (int time = 0; time < given.times; time++) items.forEach(one -> found.add(id.apply(one)));
    return found;
  }

  private static Object list(Gateway gateway, Command given) {
    var limit = given.limit;
    return switch (given.list) {
      case "broadcasts" -> {
        var api = new BroadcastsApi(gateway);
        yield ids(given, Lists.broadcasts(at -> api.listBroadcasts(limit, at, null)), Broadcast::getId);
      }
      case "messages" -> {
        var api = new MessagesApi(gateway);
        Lists.Call<String, ListMessagesAnswer> page = at ->
            api.listMessages(null, null, null, null, null, null, null, null, null, limit, at, null);
        yield ids(given, Lists.messages(page), Message::getMessageId);
      }
      case "ledger" -> {
        var api = new CostsApi(gateway);
        Lists.Call<String, GetLedgerAnswer> page = at ->
            api.getLedger(null, null, null, null, limit, at, null);
        yield ids(given, Lists.ledger(page), LedgerEntry::getMessageId);
      }
      case "audit" -> {
        var api = new AuditLogApi(gateway);
        Lists.Call<String, ListAuditAnswer> page = at ->
            api.listAudit(null, null, null, null, null, limit, at, null);
        yield ids(given, Lists.audit(page), AuditRecord::getId);
      }
      case "clients" -> {
        var api = new OnboardingAndUsageApi(gateway);
        yield ids(given, Lists.clients(at -> api.listClients(limit, at, null)), ClientRecord::getWabaId);
      }
      default -> throw new IllegalArgumentException("no list " + given.list);
    };
  }

  private static Object events(Gateway gateway, Command given) {
    var sequence = new ArrayList<Long>();
    var messageIds = new ArrayList<Object>();
    var counts = new int[2];
    var options = new EventsOptions().onInterruption((reason, wait) -> counts[0]++);
    if (given.after != null) options.after(given.after);
    var events = gateway.events(options);
    var timer = new Timer(true);
    timer.schedule(
        new TimerTask() {
          @Override
          public void run() {
            events.close();
          }
        },
        Math.round(given.limit_s * 1000));
    for (var event : events) {
      sequence.add(event.getSeq());
      var name = event.getEnvelope().getEvent();
      if (name.equals(given.of)) messageIds.add(event.getEnvelope().getData().get("message_id"));
      if (given.of == null || name.equals(given.of)) counts[1]++;
      if (counts[1] == given.count) events.close();
    }
    timer.cancel();
    return Map.of("sequence", sequence, "message_ids", messageIds, "interruptions", counts[0]);
  }

  /** Only Java has calls with a callback, which gets an error as the cause of another. */
  private static Object later(Gateway gateway, Command given) throws Exception {
    var result = new CompletableFuture<Object>();
    var callback =
        new ApiCallback<SendResult>() {
          @Override
          public void onFailure(ApiException failure, int status, Map<String, List<String>> headers) {
            result.completeExceptionally(failure);
          }

          @Override
          public void onSuccess(SendResult sent, int status, Map<String, List<String>> headers) {
            result.complete(sent.getMessageId());
          }

          @Override
          public void onUploadProgress(long written, long length, boolean done) {}

          @Override
          public void onDownloadProgress(long read, long length, boolean done) {}
        };
    new MessagesApi(gateway).sendTextAsync(given.waba_id, text(given), null, given.key, callback);
    return result.get(10, TimeUnit.SECONDS);
  }
}
