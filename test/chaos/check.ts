// Proves the promises of the architecture from the history of a run, one by one. Pure: a history
// in, counts out. Cases that cannot be decided, because an outcome is unknown or a documented
// exception applies, are counted separately.
import type { Arrival, Change, FaultSpan, History, LogEntry, PartnerEnd, Send } from './history';

export interface Verdict {
  promise: string;
  checked: number;
  violations: string[];
  unknown: number;
}

/** `sent`: the ids of the messages that the upstream has for each recipient. */
type Check = (history: History, tally: Tally, sent: Map<string, string[]>) => void;

/**
 * A deletion or rotation without Redis takes effect after three seconds (runbook, Redis
 * unreachable).
 */
const REDIS_GRACE_MS = 4_000;
const STATUSES = ['accepted', 'sent', 'delivered', 'read', 'failed'];

const rankOf = (status: string): number => Math.max(0, STATUSES.indexOf(status));

class Tally {
  checked = 0;
  unknown = 0;
  readonly violations: string[] = [];

  expect(holds: boolean, what: () => string): void {
    this.checked += 1;
    if (!holds) this.violations.push(what());
  }

  add(checked: number, violations: readonly string[]): void {
    this.checked += checked;
    this.violations.push(...violations);
  }
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Counts how often a list of a partner's end state holds an entry. */
function counterOf({ partners }: History, listOf: (end: PartnerEnd) => string[]) {
  const entries = partners.flatMap((end) => listOf(end).map((entry) => `${end.name} ${entry}`));
  const counts = groupBy(entries, (entry) => entry);
  return (name: string, entry: string): number => counts.get(`${name} ${entry}`)?.length ?? 0;
}

const eventIds = ({ log }: PartnerEnd): Map<string, string> =>
  new Map(log.map(({ event, event_id }) => [event, event_id]));

/** Messages of which no attempt has a known outcome, although one may have been sent. */
const countUnknown = (sends: Send[]): number =>
  [...groupBy(sends, ({ to }) => to).values()].filter(
    (attempts) =>
      attempts.some(({ outcome }) => outcome === 'info') &&
      attempts.every(({ outcome }) => outcome !== 'ok'),
  ).length;

const hadFault = (
  { faults }: History,
  [from_ms, to_ms]: [number, number],
  matches: (fault: FaultSpan) => boolean,
): boolean =>
  faults.some((fault) => fault.from_ms < to_ms && fault.to_ms > from_ms && matches(fault));

/**
 * Redis lost its last writes between the first and the last attempt: the record of the key may be
 * among them.
 */
const isKeyLost = (history: History, attempts: Send[]): boolean =>
  hadFault(
    history,
    [
      Math.min(...attempts.map(({ invoked_ms }) => invoked_ms)),
      Math.max(...attempts.map(({ completed_ms }) => completed_ms)),
    ],
    ({ name }) => name === 'redis loses its last writes',
  );

const acceptedSends: Check = (history, tally, sent) => {
  const recordsOf = counterOf(history, ({ messages }) =>
    messages.map(({ message_id }) => message_id),
  );
  tally.unknown = countUnknown(history.sends);
  const attemptsTo = groupBy(history.sends, ({ to }) => to);
  for (const one of history.sends) {
    if (one.message_id === null) continue;
    const ids = sent.get(one.to) ?? [];
    // If the record of its key is lost, a repeated send is a second message.
    const mayRepeat = one.key !== null && isKeyLost(history, attemptsTo.get(one.to) ?? []);
    const records = recordsOf(one.partner, one.message_id);
    tally.expect(
      ids.includes(one.message_id) && (ids.length === 1 || mayRepeat) && records === 1,
      () =>
        `${one.message_id} to ${one.to}: upstream ${ids.join(' ') || 'never'}, records ${records}`,
    );
  }
};

const refusedSends: Check = (history, tally, sent) => {
  for (const [to, attempts] of groupBy(history.sends, (one) => one.to)) {
    if (attempts.some(({ outcome }) => outcome !== 'fail')) continue;
    tally.expect(
      !sent.has(to),
      () => `${to} was sent, although refused: ${attempts.map(({ answer }) => answer).join(', ')}`,
    );
  }
};

const sentOnce: Check = (history, tally, sent) => {
  for (const { to, key, outcome } of history.sends) {
    if (key !== null) continue;
    if (outcome === 'info') tally.unknown += 1;
    const times = sent.get(to)?.length ?? 0;
    tally.expect(times <= 1, () => `${to} was sent ${times} times`);
  }
};

const keyedOnce: Check = (history, tally, sent) => {
  const keyed = history.sends.filter(({ key }) => key !== null);
  for (const [key, attempts] of groupBy(keyed, (one) => `${one.partner} ${one.key}`)) {
    const ids = new Set(attempts.flatMap(({ message_id }) => message_id ?? []));
    const times = sent.get((attempts[0] as Send).to)?.length ?? 0;
    if (isKeyLost(history, attempts)) tally.unknown += 1;
    else {
      tally.expect(
        times <= 1 && ids.size <= 1,
        () => `${key}: sent ${times} times, answered ${[...ids].join(' ')}`,
      );
    }
  }
};

/** Events that the ingress accepted, by number. */
function acceptedEvents({ webhooks }: History): Map<string, Set<string>> {
  const events = new Map<string, Set<string>>();
  for (const { status, phone_number_id, events: of_post } of webhooks) {
    if (status !== 200) continue;
    const known = events.get(phone_number_id) ?? new Set();
    for (const event of of_post) known.add(event);
    events.set(phone_number_id, known);
  }
  return events;
}

/** Each partner that owned a number, with the events that the ingress accepted for it. */
function* owed(history: History): Generator<[History['partners'][number], Set<string>]> {
  const accepted = acceptedEvents(history);
  for (const partner of history.partners) {
    for (const number of partner.numbers) yield [partner, accepted.get(number) ?? new Set()];
  }
}

const eventsLogged: Check = (history, tally) => {
  const timesIn = counterOf(history, ({ log }) => log.map(({ event }) => event));
  for (const [{ name }, events] of owed(history)) {
    for (const event of events) {
      const times = timesIn(name, event);
      tally.expect(times === 1, () => `${event} is ${times} times in the log of ${name}`);
    }
  }
};

const eventsDelivered: Check = (history, tally) => {
  const delivered = new Set(
    history.arrivals
      .filter(({ answered }) => answered >= 200 && answered < 300)
      .map(({ partner, event }) => `${partner} ${event}`),
  );
  for (const [partner, events] of owed(history)) {
    if (partner.receiver === null) continue;
    const ids = eventIds(partner);
    const listed = new Set(partner.failed_events);
    for (const event of events) {
      const isListed = listed.has(ids.get(event) ?? '');
      tally.expect(
        delivered.has(`${partner.name} ${event}`) || isListed,
        () => `${event} did not reach ${partner.name}`,
      );
    }
  }
};

const stableIds: Check = ({ arrivals, partners }, tally) => {
  const logs = new Map(partners.map((one) => [one.name, eventIds(one)]));
  for (const { partner, event, event_id } of arrivals) {
    // Events without a message do not name their subject.
    if (!event.startsWith('message.')) continue;
    const logged = logs.get(partner)?.get(event);
    if (logged === undefined) tally.unknown += 1;
    else
      tally.expect(
        logged === event_id,
        () => `${event} reached ${partner} as ${event_id}, and is ${logged} in its log`,
      );
  }
};

const conversationsInOrder: Check = ({ conversations, arrivals, partners }, tally) => {
  for (const { name, receiver, log } of partners) {
    const sources: Array<[string, string[]]> = [['log', log.map(({ event }) => event)]];
    if (receiver === 'healthy') {
      const own = arrivals.filter(({ partner }) => partner === name);
      sources.push(['receiver', own.map(({ event }) => event)]);
    }
    for (const [source, events] of sources) {
      // An event that was repeated has the place at which it came first.
      const places = new Map([...events.entries()].reverse().map(([at, event]) => [event, at]));
      for (const ids of conversations) {
        const came = ids.map((id) => ({ id, place: places.get(`message.received ${id}`) }));
        for (const [index, { id, place }] of came.entries()) {
          const before = came[index - 1];
          if (before?.place === undefined || place === undefined) continue;
          tally.expect(
            before.place < place,
            () => `${source} of ${name}: ${id} came before ${before.id}`,
          );
        }
      }
    }
  }
};

const logPositions: Check = ({ partners }, tally) => {
  for (const { name, log } of partners) {
    const ids = new Set<string>();
    for (const [index, { seq, event_id }] of log.entries()) {
      tally.expect(seq === index + 1, () => `log of ${name}: position ${seq} after ${index}`);
      tally.expect(!ids.has(event_id), () => `log of ${name}: ${event_id} is in it twice`);
      ids.add(event_id);
    }
  }
};

const logIsFinal: Check = ({ partners }, tally) => {
  const show = (one: LogEntry | undefined): string => (one ? `${one.seq} ${one.event}` : 'nothing');
  for (const { name, log, live_log } of partners) {
    for (const [index, read] of live_log.entries()) {
      const stored = log[index];
      tally.expect(
        stored?.seq === read.seq && stored.event_id === read.event_id,
        () => `log of ${name}: read as ${show(read)}, later ${show(stored)}`,
      );
    }
  }
};

/** Expects that a send was refused, since the change had completed before it was invoked. */
function expectRefused(history: History, tally: Tally, one: Send, change: Change, isSent: boolean) {
  const { kind, invoked_ms, completed_ms } = change;
  const isRecent = one.invoked_ms - completed_ms < REDIS_GRACE_MS;
  const isRedis = ({ target }: FaultSpan): boolean => /(^|>)redis$/.test(target);
  if (isRecent && hadFault(history, [invoked_ms - REDIS_GRACE_MS, one.completed_ms], isRedis)) {
    tally.unknown += 1;
    return;
  }
  tally.expect(
    !isSent && one.outcome !== 'ok',
    () => `${one.to} was sent at ${one.invoked_ms} ms, after ${kind}: ${one.answer}`,
  );
}

const deletedClients: Check = (history, tally, sent) => {
  const changes = groupBy(history.changes, ({ partner }) => partner);
  for (const one of history.sends) {
    const last = (changes.get(one.partner) ?? []).findLast(
      ({ kind, invoked_ms }) =>
        (kind === 'delete' || kind === 'register') && invoked_ms < one.completed_ms,
    );
    if (last?.kind !== 'delete' || last.completed_ms > one.invoked_ms) continue;
    if (last.outcome !== 'ok') tally.unknown += 1;
    else expectRefused(history, tally, one, last, sent.has(one.to));
  }
};

const rotatedKeys: Check = (history, tally, sent) => {
  for (const one of history.sends) {
    if (!one.with_old_key) continue;
    const rotation = history.changes.findLast(
      ({ kind, partner, completed_ms }) =>
        kind === 'rotate-key' && partner === one.partner && completed_ms <= one.invoked_ms,
    ) as Change;
    expectRefused(history, tally, one, rotation, sent.has(one.to));
  }
};

const statusesNeverLowered: Check = (history, tally) => {
  for (const [id, reads] of groupBy(history.status_reads, ({ message_id }) => message_id)) {
    for (const [index, read] of reads.entries()) {
      const earlier = reads.slice(0, index).filter((one) => one.completed_ms <= read.invoked_ms);
      const highest = Math.max(0, ...earlier.map(({ status }) => rankOf(status)));
      if (earlier.length === 0) continue;
      tally.expect(
        rankOf(read.status) >= highest,
        () => `${id} was read as ${read.status} after a higher status`,
      );
    }
  }
  const highest = new Map<string, number>();
  for (const events of acceptedEvents(history).values()) {
    for (const event of events) {
      const [, status, id] = /^message\.(sent|delivered|read|failed) (.*)$/.exec(event) ?? [];
      if (!status || !id) continue;
      highest.set(id, Math.max(highest.get(id) ?? 0, rankOf(status)));
    }
  }
  for (const { message_id, status } of history.partners.flatMap(({ messages }) => messages)) {
    const wanted = highest.get(message_id);
    if (wanted === undefined) continue;
    tally.expect(
      rankOf(status) >= wanted,
      () => `${message_id} ended as ${status}, below a status that the ingress accepted`,
    );
  }
};

const broadcastContacts: Check = (history, tally, sent) => {
  for (const { broadcast_id, contacts } of history.broadcasts) {
    for (const contact of contacts) {
      const times = sent.get(contact)?.length ?? 0;
      tally.expect(times <= 1, () => `broadcast ${broadcast_id}: ${contact} got it ${times} times`);
    }
  }
};

const broadcastCounters: Check = (history, tally, sent) => {
  for (const { broadcast_id, status, total, contacts, ...counted } of history.broadcasts) {
    const arrived = contacts.filter((contact) => sent.has(contact)).length;
    tally.unknown += counted.failed;
    tally.expect(
      status === 'completed' &&
        total === contacts.length &&
        counted.sent === arrived &&
        counted.sent + counted.failed === total,
      () =>
        `broadcast ${broadcast_id}, ${status}: total ${total} of ${contacts.length}, sent ${counted.sent}, failed ${counted.failed}, upstream ${arrived}`,
    );
  }
};

const broadcastsOnce: Check = ({ broadcasts }, tally) => {
  for (const [name, all] of groupBy(broadcasts, (one) => one.name)) {
    tally.expect(all.length === 1, () => `${name} was created ${all.length} times under one key`);
  }
};

/**
 * The partner that a message was sent for: its recipient is that of one send, or of one broadcast.
 */
function senders({ sends, broadcasts }: History): Map<string, string> {
  const found = new Map(sends.map(({ to, partner }) => [to, partner]));
  for (const { contacts } of broadcasts) {
    for (const contact of contacts) found.set(contact, 'broadcaster');
  }
  return found;
}

/**
 * Recipients of sends with an unknown outcome whose client was deleted afterwards. Only a status
 * shows whether such a message went out, and a status leads to a partner only while that partner
 * owns the number.
 */
const unclaimed = ({ sends, changes }: History): Set<string> =>
  new Set(
    sends
      .filter(
        ({ outcome, partner, invoked_ms }) =>
          outcome === 'info' &&
          changes.some(
            (change) =>
              change.kind === 'delete' &&
              change.partner === partner &&
              change.completed_ms > invoked_ms,
          ),
      )
      .map(({ to }) => to),
  );

const ledgerRows: Check = (history, tally) => {
  const lost = unclaimed(history);
  const sender = senders(history);
  const rowsOf = counterOf(history, ({ ledger }) => ledger);
  for (const { id, to } of history.upstream) {
    const name = sender.get(to);
    if (name === undefined) continue;
    const times = rowsOf(name, id);
    if (times === 0 && lost.has(to)) tally.unknown += 1;
    else tally.expect(times === 1, () => `${id} to ${to} of ${name} has ${times} rows`);
  }
};

const ownEventsOnly: Check = ({ partners, arrivals }, tally) => {
  const own = new Map(partners.map(({ name, wabas }) => [name, wabas]));
  const look = (name: string, where: string, { event, waba_id }: Arrival | LogEntry): void =>
    tally.expect(
      waba_id === null || (own.get(name) ?? []).includes(waba_id),
      () => `${where} of ${name}: ${event} of account ${waba_id}`,
    );
  for (const arrival of arrivals) look(arrival.partner, 'receiver', arrival);
  for (const { name, log } of partners) for (const entry of log) look(name, 'log', entry);
};

const signatures: Check = ({ arrivals, changes }, tally) => {
  const unsure = new Set(
    changes
      .filter(({ kind, outcome }) => kind === 'rotate-secret' && outcome === 'info')
      .map(({ partner }) => partner),
  );
  for (const { partner, event, is_signed } of arrivals) {
    if (!is_signed && unsure.has(partner)) tally.unknown += 1;
    else tally.expect(is_signed, () => `${event} reached ${partner} without a valid signature`);
  }
};

const noSecrets: Check = ({ leaks, log_lines }, tally) => tally.add(log_lines, leaks);

const committed: Check = ({ uncommitted }, tally) =>
  tally.add(uncommitted === null ? 0 : 1, uncommitted ?? []);

const postedOnce: Check = ({ arrivals, posted_again }, tally) =>
  tally.add(posted_again === null ? 0 : arrivals.length, posted_again ?? []);

const healthy: Check = ({ unhealthy }, tally) =>
  tally.expect(unhealthy === null, () => String(unhealthy));

const PROMISES: Readonly<Record<string, Check>> = {
  'an accepted send is at the upstream and in the message log, once each': acceptedSends,
  'a send refused as not done did not go upstream': refusedSends,
  'a send without a key goes upstream at most once': sentOnce,
  'an Idempotency-Key goes upstream at most once, with one answer': keyedOnce,
  'a webhook answered 200 is in the log of each owner, once': eventsLogged,
  'a webhook answered 200 reaches each receiver, or is listed as failed': eventsDelivered,
  'a repeated event keeps its webhook-id': stableIds,
  'events of a conversation are in order, pushed and pulled': conversationsInOrder,
  'positions of the event log have no gap and no duplicate': logPositions,
  'the event log never changes at a position that was read': logIsFinal,
  'nothing is sent for a deleted client': deletedClients,
  'a replaced key is refused': rotatedKeys,
  'the status of a message never goes back': statusesNeverLowered,
  'no contact of a broadcast gets it twice': broadcastContacts,
  'the counters of a broadcast add up': broadcastCounters,
  'a broadcast is created once under its key': broadcastsOnce,
  'each message has one row in the ledger': ledgerRows,
  'a partner gets events of its own accounts only': ownEventsOnly,
  'each delivery is signed with a secret of its partner': signatures,
  'no secret, message text or phone number of a customer is in a log': noSecrets,
  'every consumer commits what it has read': committed,
  'a restart after the faults posts nothing again': postedOnce,
  'all parts are healthy after the faults, without a restart': healthy,
};

export function checkHistory(history: History): Verdict[] {
  const sent = new Map<string, string[]>();
  for (const { to, id } of history.upstream) sent.set(to, [...(sent.get(to) ?? []), id]);
  return Object.entries(PROMISES).map(([promise, check]) => {
    const tally = new Tally();
    check(history, tally, sent);
    return { promise, ...tally };
  });
}
