package bmg.client;

import bmg.client.rest.ApiException;
import bmg.client.rest.model.Broadcast;
import bmg.client.rest.model.ClientRecord;
import bmg.client.rest.model.FailedEvent;
import bmg.client.rest.model.GetLedgerAnswer;
import bmg.client.rest.model.LedgerEntry;
import bmg.client.rest.model.ListBlockedAnswer;
import bmg.client.rest.model.ListBlockedAnswerBlockedInner;
import bmg.client.rest.model.ListBroadcastsAnswer;
import bmg.client.rest.model.ListClientsAnswer;
import bmg.client.rest.model.ListFailedEventsAnswer;
import bmg.client.rest.model.ListGroupsAnswer;
import bmg.client.rest.model.ListGroupsAnswerGroupsInner;
import bmg.client.rest.model.ListMessagesAnswer;
import bmg.client.rest.model.Message;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * The items of all pages of a list. The call takes the position of a page, which is null for the
 * first one: {@code Lists.clients(offset -> api.listClients(100L, offset, null))}.
 */
public final class Lists {
  private Lists() {}

  /** A call of a list endpoint at a position. */
  @FunctionalInterface
  public interface Call<P, A> {
    A at(P position) throws ApiException;
  }

  /** The clients of all offsets. */
  public static Iterable<ClientRecord> clients(Call<Integer, ListClientsAnswer> call) {
    return pages(
        call,
        ListClientsAnswer::getClients,
        page -> offset(page.getOffset(), page.getClients().size(), page.getLimit()));
  }

  /** The broadcasts of all offsets. */
  public static Iterable<Broadcast> broadcasts(Call<Integer, ListBroadcastsAnswer> call) {
    return pages(
        call,
        ListBroadcastsAnswer::getBroadcasts,
        page -> offset(page.getOffset(), page.getBroadcasts().size(), page.getLimit()));
  }

  /** The messages of all cursors. */
  public static Iterable<Message> messages(Call<String, ListMessagesAnswer> call) {
    return pages(
        call, ListMessagesAnswer::getMessages, page -> page.getPaging().getCursors().getAfter());
  }

  /** The events of all cursors whose delivery failed. */
  public static Iterable<FailedEvent> failedEvents(Call<String, ListFailedEventsAnswer> call) {
    return pages(
        call, ListFailedEventsAnswer::getEvents, page -> page.getPaging().getCursors().getAfter());
  }

  /** The entries of all pages of the ledger. */
  public static Iterable<LedgerEntry> ledger(Call<String, GetLedgerAnswer> call) {
    return pages(call, GetLedgerAnswer::getEntries, GetLedgerAnswer::getNext);
  }

  /** The blocked people of all pages. */
  public static Iterable<ListBlockedAnswerBlockedInner> blocked(
      Call<String, ListBlockedAnswer> call) {
    return pages(
        call, ListBlockedAnswer::getBlocked, page -> page.getPaging().getCursors().getAfter());
  }

  /** The groups of all pages. */
  public static Iterable<ListGroupsAnswerGroupsInner> groups(Call<String, ListGroupsAnswer> call) {
    return pages(
        call, ListGroupsAnswer::getGroups, page -> page.getPaging().getCursors().getAfter());
  }

  private static Integer offset(Long offset, int items, Long limit) {
    return items < limit ? null : Math.toIntExact(offset + items);
  }

  private static <P, A, T> Iterable<T> pages(
      Call<P, A> call, Function<A, List<T>> items, Function<A, P> following) {
    return () -> new Pages<>(call, items, following);
  }

  private static final class Pages<P, A, T> implements Iterator<T> {
    private final Call<P, A> call;
    private final Function<A, List<T>> items;
    private final Function<A, P> following;
    private Iterator<T> page = Collections.emptyIterator();
    private P position;
    private boolean isStarted;

    Pages(Call<P, A> call, Function<A, List<T>> items, Function<A, P> following) {
      this.call = call;
      this.items = items;
      this.following = following;
    }

    @Override
    public boolean hasNext() {
      while (!page.hasNext()) {
        if (isStarted && position == null) return false;
        isStarted = true;
        try {
          A answer = call.at(position);
          page = items.apply(answer).iterator();
          position = following.apply(answer);
        } catch (ApiException e) {
          throw new IllegalStateException("the page was not read", e);
        }
      }
      return true;
    }

    @Override
    public T next() {
      if (!hasNext()) throw new NoSuchElementException("the list has no more items");
      return page.next();
    }
  }
}
