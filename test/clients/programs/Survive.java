// Sends texts and reads the event log while the gateway is killed and started: prints a line for
// each send, and in the end what it sent and saw, as JSON.
import bmg.client.EventsOptions;
import bmg.client.Gateway;
import bmg.client.rest.api.MessagesApi;
import bmg.client.rest.model.SendTextRequest;
import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;

public class Survive {
  /** Enough attempts for an outage of minutes. */
  private static final int ATTEMPTS = 12;

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    var gateway = new Gateway(env.get("BASE_URL"), env.get("PARTNER_KEY"), ATTEMPTS);
    // Single requests are not retried: the sequence itself has to outlive the outage.
    var reader = new Gateway(env.get("BASE_URL"), env.get("PARTNER_KEY"), 1);
    List<Long> sequence = Collections.synchronizedList(new ArrayList<>());
    Set<String> reported = new ConcurrentSkipListSet<>();
    var interruptions = new AtomicInteger();
    var options = new EventsOptions().after(0L).onInterruption((reason, wait) -> interruptions.incrementAndGet());
    var events = reader.events(options);
    var reading =
        new Thread(
            () -> {
              for (var event : events) {
                sequence.add(event.getSeq());
                if (event.getEnvelope().getEvent().equals("message.sent")) {
                  reported.add((String) event.getEnvelope().getData().get("message_id"));
                }
              }
            });
    reading.setDaemon(true);
    reading.start();

    List<String> sent = new ArrayList<>();
    for (int number = 0; number < Integer.parseInt(env.get("COUNT")); number++) {
      var body = new SendTextRequest().to("15550100777").text("Number " + number);
      sent.add(new MessagesApi(gateway).sendText(env.get("WABA_ID"), body, null, null).getMessageId());
      System.out.println("sent " + number);
      Thread.sleep(100);
    }
    long deadline = System.nanoTime() + Long.parseLong(env.get("LIMIT_S")) * 1_000_000_000L;
    while (!reported.containsAll(sent) && System.nanoTime() < deadline) Thread.sleep(200);
    events.close();
    reading.join();
    System.out.println(
        new Gson()
            .toJson(
                Map.of(
                    "sent", sent,
                    "reported", reported,
                    "sequence", sequence,
                    "interruptions", interruptions)));
  }
}
