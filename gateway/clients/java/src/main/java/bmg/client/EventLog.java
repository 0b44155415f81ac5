package bmg.client;

import bmg.client.rest.ApiException;
import bmg.client.rest.api.EventLogApi;
import bmg.client.rest.model.ListEventsAnswer;
import bmg.client.rest.model.LoggedEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The events of the log, one by one. It waits for new ones, and for the gateway. Store {@code seq}
 * together with the result of handling an event, and pass it as {@code after} to continue. {@link
 * #close} ends it, after the request in flight. It throws only permanent errors, such as a refused
 * key.
 */
public final class EventLog implements Iterable<LoggedEvent>, AutoCloseable {
  private static final Duration INTERRUPTION_WAIT_MAX = Duration.ofSeconds(30);

  private final EventLogApi api;
  private final EventsOptions options;
  private final CountDownLatch closed = new CountDownLatch(1);

  EventLog(Gateway gateway, EventsOptions options) {
    this.api = new EventLogApi(gateway);
    this.options = options;
  }

  @Override
  public Iterator<LoggedEvent> iterator() {
    return new Reader();
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  private final class Reader implements Iterator<LoggedEvent> {
    private Iterator<LoggedEvent> page = Collections.emptyIterator();
    private Long after = options.after;
    private Long following = options.after;
    private int failures = 0;

    @Override
    public boolean hasNext() {
      while (!isClosed()) {
        // A close ends the sequence between two events: the next one was not handled.
        if (page.hasNext()) return true;
        after = following;
        read();
      }
      return false;
    }

    @Override
    public LoggedEvent next() {
      if (!hasNext()) throw new NoSuchElementException("the log is closed");
      return page.next();
    }

    private void read() {
      try {
        ListEventsAnswer answer =
            api.listEvents(
                after, options.limit, options.event, null, null, null, Gateway.WAIT_S, null);
        failures = 0;
        page = answer.getEvents().iterator();
        following = answer.getNext();
      } catch (GatewayException failure) {
        if (!failure.passes()) throw failure;
        interrupted(failure, failure.retryAfter());
      } catch (ApiException failure) {
        if (!(failure.getCause() instanceof IOException)) throw new IllegalStateException(failure);
        interrupted(failure, null);
      }
    }

    private void interrupted(Exception reason, Duration given) {
      failures++;
      Duration growing = Retries.backoff(failures);
      Duration longest = INTERRUPTION_WAIT_MAX;
      Duration wait = given != null ? given : growing.compareTo(longest) > 0 ? longest : growing;
      options.onInterruption.accept(reason, wait);
      try {
        if (closed.await(wait.toMillis(), TimeUnit.MILLISECONDS)) return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        close();
      }
    }
  }
}
