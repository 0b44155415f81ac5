// Generated from the endpoint table by make clients. Do not edit.
package bmg.client;

import bmg.client.rest.ApiException;
import bmg.client.rest.model.*;

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

  /** The items of all pages of {@code GET /clients}. */
  public static Iterable<ClientRecord> clients(Call<Integer, ListClientsAnswer> call) {
    return Pages.of(call, ListClientsAnswer::getClients, page -> Pages.offset(page.getOffset(), page.getClients().size(), page.getLimit()));
  }

  /** The items of all pages of {@code GET /messages}. */
  public static Iterable<Message> messages(Call<String, ListMessagesAnswer> call) {
    return Pages.of(call, ListMessagesAnswer::getMessages, page -> page.getPaging().getCursors().getAfter());
  }

  /** The items of all pages of {@code GET /templates/library}. */
  public static Iterable<ListLibraryTemplatesAnswerTemplatesInner> libraryTemplates(Call<String, ListLibraryTemplatesAnswer> call) {
    return Pages.of(call, ListLibraryTemplatesAnswer::getTemplates, page -> page.getPaging().getCursors().getAfter());
  }

  /** The items of all pages of {@code GET /usage/ledger}. */
  public static Iterable<LedgerEntry> ledger(Call<String, GetLedgerAnswer> call) {
    return Pages.of(call, GetLedgerAnswer::getEntries, page -> page.getNext());
  }

  /** The items of all pages of {@code GET /broadcasts}. */
  public static Iterable<Broadcast> broadcasts(Call<Integer, ListBroadcastsAnswer> call) {
    return Pages.of(call, ListBroadcastsAnswer::getBroadcasts, page -> Pages.offset(page.getOffset(), page.getBroadcasts().size(), page.getLimit()));
  }

  /** The items of all pages of {@code GET /blocked}. */
  public static Iterable<ListBlockedAnswerBlockedInner> blocked(Call<String, ListBlockedAnswer> call) {
    return Pages.of(call, ListBlockedAnswer::getBlocked, page -> page.getPaging().getCursors().getAfter());
  }

  /** The items of all pages of {@code GET /groups}. */
  public static Iterable<ListGroupsAnswerGroupsInner> groups(Call<String, ListGroupsAnswer> call) {
    return Pages.of(call, ListGroupsAnswer::getGroups, page -> page.getPaging().getCursors().getAfter());
  }

  /** The items of all pages of {@code GET /webhooks/failed}. */
  public static Iterable<FailedEvent> failedEvents(Call<String, ListFailedEventsAnswer> call) {
    return Pages.of(call, ListFailedEventsAnswer::getEvents, page -> page.getPaging().getCursors().getAfter());
  }

  /** The items of all pages of {@code GET /audit}. */
  public static Iterable<AuditRecord> audit(Call<String, ListAuditAnswer> call) {
    return Pages.of(call, ListAuditAnswer::getRecords, page -> page.getPaging().getCursors().getAfter());
  }
}
