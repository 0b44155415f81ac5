package bmg.client;

import java.time.Duration;
import java.util.function.BiConsumer;

/** Selects the events to read and the position to start from. */
public final class EventsOptions {
  Long after;
  String event;
  Long limit;
  BiConsumer<Exception, Duration> onInterruption = (reason, wait) -> {};

  /** The position after which reading begins: {@code seq} of the last event that you handled. */
  public EventsOptions after(Long position) {
    after = position;
    return this;
  }

  /** The names of the wanted events, separated by commas. */
  public EventsOptions event(String names) {
    event = names;
    return this;
  }

  /** The number of events that are fetched at once. */
  public EventsOptions limit(long events) {
    limit = events;
    return this;
  }

  /** Called before each wait during an interruption, for logging. */
  public EventsOptions onInterruption(BiConsumer<Exception, Duration> listener) {
    onInterruption = listener;
    return this;
  }
}
