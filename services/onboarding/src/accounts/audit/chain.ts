// The chain of the audit log: links, each of which keeps hashes of the records of a period and the
// hash of the link before. A record that was changed, removed or added after its time no longer
// fits its link. Pure functions.
import { createHash } from 'node:crypto';
import type { AuditEntry, Link, Sealed } from './store';

export interface Fault {
  link: number;
  record_id?: string;
  problem: string;
}

/** A record without an outcome after this time belongs to a process that was killed. */
export const OPEN_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Records are removed by the database after their time, which it checks once a minute. */
const EXPIRY_DELAY_MS = DAY_MS;

const sha256 = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');

const personalOf = ({ salt, actor, address, before, after }: AuditEntry): string =>
  sha256([salt, actor.name, address, before, after]);

const isErased = ({ salt, actor, address, before, after }: AuditEntry): boolean =>
  [salt, actor.name, address, before, after].every((one) => one === undefined || one === null);

const hashOf = (entry: AuditEntry, personal: string): string =>
  sha256([
    entry._id,
    entry.at,
    entry.partner_id,
    entry.actor.type,
    entry.actor.id,
    entry.action,
    Object.entries(entry.target).sort(),
    entry.waba_id,
    entry.fields,
    entry.outcome,
    entry.code,
    entry.request_id,
    entry.ended_at,
    entry.count ?? 1,
    personal,
  ]);

export function sealed(entry: AuditEntry): Sealed {
  const personal = personalOf(entry);
  const open = entry.ended_at === null;
  return { id: entry._id, hash: hashOf(entry, personal), personal, open };
}

export function linkAfter(
  last: Link | undefined,
  given: Pick<Link, 'at' | 'from' | 'to' | 'records'>,
): Link {
  const link = { ...given, _id: (last?._id ?? 0) + 1, previous: last?.hash ?? null };
  return { ...link, hash: linkHash(link) };
}

const linkHash = ({ _id, at, from, to, previous, records }: Omit<Link, 'hash'>): string =>
  sha256([
    _id,
    at,
    from,
    to,
    previous,
    records.map(({ id, hash, personal, open }) => [id, hash, personal, open]),
  ]);

/**
 * Compares a link with the one before, if there is one. The one before a link whose period has
 * expired may be missing.
 */
export function faultOfLink(
  link: Link,
  before: Link | undefined,
  is_expired: boolean,
): Fault | undefined {
  if (linkHash(link) !== link.hash) return { link: link._id, problem: 'the link was changed' };
  if (before?._id === link._id - 1) {
    return before.hash === link.previous
      ? undefined
      : { link: before._id, problem: 'the link was changed' };
  }
  return link._id === 1 || is_expired
    ? undefined
    : { link: link._id - 1, problem: 'the link is missing' };
}

/**
 * Compares what a link keeps with the records of its period, and with those of its IDs. Records of
 * an expired period may be missing.
 */
export function faultsOfRecords(
  link: Link,
  found: { of_period: readonly AuditEntry[]; by_id: readonly AuditEntry[] },
  is_expired: boolean,
): Fault[] {
  const kept = new Map(link.records.map((one) => [one.id, one]));
  const present = new Map(found.by_id.map((one) => [one._id, one]));
  const fault = (record_id: string, problem: string): Fault[] => [
    { link: link._id, record_id, problem },
  ];
  const added = found.of_period
    .filter(({ _id }) => !kept.has(_id))
    .flatMap(({ _id }) => fault(_id, 'was added after its time'));
  const altered = link.records.flatMap((one) => {
    const entry = present.get(one.id);
    if (!entry) return is_expired ? [] : fault(one.id, 'was removed');
    return fits(entry, one) || hasMovedOn(entry, one, link) ? [] : fault(one.id, 'was changed');
  });
  return [...altered, ...added];
}

function fits(entry: AuditEntry, { hash, personal }: Sealed): boolean {
  const is_same = isErased(entry) || personalOf(entry) === personal;
  return is_same && hashOf(entry, personal) === hash;
}

/** A late outcome, or a further change of the day of a shared record, is in a later link. */
function hasMovedOn({ at, ended_at, count }: AuditEntry, { open }: Sealed, { to }: Link): boolean {
  if (count === undefined) return open && ended_at !== null && ended_at > to;
  const of_day = Math.floor(at.getTime() / DAY_MS);
  const last = ended_at ?? to;
  return last >= to && last.getTime() <= (of_day + 1) * DAY_MS + OPEN_MS;
}

/** Records of the link may have been removed after their time, `kept_ms`. */
export const isExpired = ({ from }: Link, kept_ms: number, now: Date): boolean =>
  now.getTime() - from.getTime() > kept_ms - EXPIRY_DELAY_MS;
