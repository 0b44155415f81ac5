// The state of each contact of a chunk. A chunk stores its states as one string, a letter per
// contact. The counters are derived from that string and stored with it, so that the two cannot
// differ after repeated or late events, or a crash.
import { defineMachine } from '@bmg/common/state';

/**
 * - mark, release: before a send, and after a send that did not happen. Only by the holder of the
 *   lease.
 * - sent, refuse: the answer to the send.
 * - expire: neither an answer nor a status event arrived in time.
 * - drop: the broadcast stopped before the contact was sent.
 * - status_*: a status event of the upstream.
 *
 * The states rank like message statuses: sent < delivered, and failed is final, in whatever order
 * events arrive.
 */
export const contactMachine = defineMachine({
  mark: { from: ['waiting'], to: 'in_flight' },
  release: { from: ['in_flight'], to: 'waiting' },
  sent: { from: ['waiting', 'in_flight', 'unknown'], to: 'sent' },
  refuse: { from: ['in_flight', 'unknown'], to: 'failed' },
  expire: { from: ['in_flight'], to: 'unknown' },
  drop: { from: ['waiting'], to: 'failed' },
  status_sent: { from: ['waiting', 'in_flight', 'unknown'], to: 'sent' },
  status_delivered: { from: ['waiting', 'in_flight', 'unknown', 'sent'], to: 'delivered' },
  status_failed: { from: ['waiting', 'in_flight', 'unknown', 'sent', 'delivered'], to: 'failed' },
});

export type ContactState = Parameters<typeof contactMachine.allows>[0];
export type ContactEvent = Parameters<typeof contactMachine.to>[0];

const LETTER: Record<ContactState, string> = {
  waiting: 'w',
  in_flight: 'f',
  sent: 's',
  delivered: 'd',
  failed: 'x',
  unknown: 'u',
};
const STATE = Object.fromEntries(
  Object.entries(LETTER).map(([state, letter]) => [letter, state]),
) as Record<string, ContactState>;

export const allWaiting = (count: number): string => LETTER.waiting.repeat(count);

export const stateAt = (states: string, index: number): ContactState | undefined =>
  STATE[states.charAt(index)];

/** The indices of the contacts in a state. */
export function indicesOf(states: string, state: ContactState): number[] {
  const found: number[] = [];
  for (
    let at = states.indexOf(LETTER[state]);
    at >= 0;
    at = states.indexOf(LETTER[state], at + 1)
  ) {
    found.push(at);
  }
  return found;
}

/** Contacts by state. `sent` includes delivered contacts, `failed` includes unknown ones. */
export interface Tally {
  waiting: number;
  in_flight: number;
  sent: number;
  delivered: number;
  failed: number;
}

export const emptyTally = (): Tally => ({
  waiting: 0,
  in_flight: 0,
  sent: 0,
  delivered: 0,
  failed: 0,
});

export function tallyOf(states: string): Tally {
  const tally = emptyTally();
  for (const letter of states) {
    if (letter === 'w') tally.waiting += 1;
    else if (letter === 'f') tally.in_flight += 1;
    else if (letter === 's') tally.sent += 1;
    else if (letter === 'd') {
      tally.sent += 1;
      tally.delivered += 1;
    } else tally.failed += 1;
  }
  return tally;
}

export function addTally(to: Tally, tally: Tally): void {
  for (const key of Object.keys(to) as Array<keyof Tally>) to[key] += tally[key];
}

/** Failed contacts with the same code: the upstream's, or one of ours. */
export interface Failure {
  code: string;
  count: number;
  /** The masked recipient of one of them. */
  example: string;
}

/** The code of a contact whose message may or may not have been sent. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';
/** Codes come from the upstream: in one chunk, further codes are counted together as `other`. */
const CODES_MAX = 50;
const OTHER = 'other';

export interface Change {
  index: number;
  event: ContactEvent;
  /** Set with refuse, drop and status_failed. */
  code?: string;
  /** The masked recipient. */
  example?: string;
}

interface ContactStates {
  states: string;
  failures: readonly Failure[];
  /** Contacts in flight whose sends messaging claims; absent in chunks of an earlier release. */
  claimed?: readonly number[];
}

export interface Moved {
  states: string;
  failures: Failure[];
  claimed: number[];
  /** For each change, whether it moved its contact. */
  moved: boolean[];
}

/** Applies changes in order. A change that its contact's state does not allow has no effect. */
export function applyChanges(from: ContactStates, changes: readonly Change[]): Moved {
  const letters = from.states.split('');
  const failures = from.failures.map((failure) => ({ ...failure }));
  const claimed = new Set(from.claimed ?? []);
  const moved = changes.map((change) => {
    const state = STATE[letters[change.index] ?? ''];
    if (!state || !contactMachine.allows(state, change.event)) return false;
    const to = contactMachine.to(change.event);
    letters[change.index] = LETTER[to];
    if (to === 'in_flight') claimed.add(change.index);
    else claimed.delete(change.index);
    if (state === 'unknown') uncount(failures, OUTCOME_UNKNOWN);
    if (to === 'unknown') count(failures, OUTCOME_UNKNOWN, change.example);
    if (to === 'failed') count(failures, change.code ?? OTHER, change.example);
    return true;
  });
  return { states: letters.join(''), failures, claimed: [...claimed], moved };
}

function count(failures: Failure[], code: string, example = ''): void {
  const room = failures.length < CODES_MAX || code === OUTCOME_UNKNOWN;
  const counted = room || failures.some((failure) => failure.code === code) ? code : OTHER;
  const known = failures.find((failure) => failure.code === counted);
  if (known) known.count += 1;
  else failures.push({ code: counted, count: 1, example });
}

function uncount(failures: Failure[], code: string): void {
  const at = failures.findIndex((failure) => failure.code === code);
  const failure = failures[at];
  if (!failure) return;
  failure.count -= 1;
  if (failure.count <= 0) failures.splice(at, 1);
}

/** Adds up the failures of several chunks, most frequent first. */
export function addFailures(lists: ReadonlyArray<readonly Failure[]>): Failure[] {
  const byCode = new Map<string, Failure>();
  for (const failure of lists.flat()) {
    const known = byCode.get(failure.code);
    if (known) known.count += failure.count;
    else byCode.set(failure.code, { ...failure });
  }
  return [...byCode.values()].sort((a, b) => b.count - a.count);
}
