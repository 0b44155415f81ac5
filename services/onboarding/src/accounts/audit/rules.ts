// The rules of the audit log: its quotas, the cursor of its pages, the bounds of a record, and its
// CSV. Pure functions.
import { csvLine } from '@bmg/common/csv';
import { invalidField } from '@bmg/common/errors';
import { includesRole, isRole } from '@bmg/common/people';
import { AuditRecord } from '@bmg/proto/audit';
import { messageOf } from '../../ground/message';
import { isWithin, type Grant } from '../keys';
import type { AuditEntry, AuditPosition, Values } from './store';

/** IDs of one record; a request names a handful. */
const TARGETS_MAX = 20;
export const FIELDS_MAX = 100;
const TEXT_MAX = 256;
/** The largest value is a list of 100 accounts. */
const VALUE_BYTES_MAX = 8 * 1024;
const TOO_LONG = '(too long to be recorded)';

/** What limits a change: see `BeginChangeRequest`. */
export type Kind = 'change' | 'reduces_risk' | 'log_in' | 'refusal';

/** Actors that share half of the partner's quota: they may be many, and leak. */
export const isProgram = (type: string): boolean => type === 'api_key' || type === 'sign_up_link';

export const halfOf = (limit: number): number => Math.ceil(limit / 2);

/** A link makes a handful of changes. */
const LINK_MIN = 5;

const shareOf = (limit: number, part: number, min = 1): number =>
  Math.max(min, Math.floor(limit / part));

/** The day's quotas of a partner that may make `changes`. */
export const quotasOf = (changes: number) => ({
  changes,
  programs: halfOf(changes),
  /** The quota of one actor, by its type; the partner key has the whole quota. */
  changes_of: {
    api_key: shareOf(changes, 5),
    person: shareOf(changes, 5),
    sign_up_link: shareOf(changes, 500, LINK_MIN),
  } as Partial<Record<string, number>>,
  /** Records of changes never refused, as many of log-ins and of refusals; more share one. */
  reserve: shareOf(changes, 10),
  reserve_of_one: shareOf(changes, 50),
});

/** Unknown kinds, of a later gateway, are limited. */
export function kindOf(given: string | undefined, before_of: string, change: Changed): Kind {
  if (given === 'narrows') return isNarrower(before_of, change) ? 'reduces_risk' : 'change';
  return given === 'reduces_risk' || given === 'log_in' ? given : 'change';
}

interface Changed {
  before: Values | null;
  after: Values | null;
}

/** True if the values after a change allow nothing that those before did not. */
function isNarrower(before_of: string, { before, after }: Changed): boolean {
  if (!before || !after) return false;
  if (before_of === 'person') {
    const [from, to] = [String(before['role']), String(after['role'])];
    return isRole(from) && isRole(to) && includesRole(from, to);
  }
  const limits = Object.keys(after).filter((name) => LIMITS.includes(name));
  return limits.length > 0 && isWithin(grantOf(before), grantOf({ ...before, ...after }));
}

const LIMITS = ['scopes', 'waba_ids', 'addresses', 'expires_at'];

/** The values of a key, as the API spells them. A missing limit is not changed. */
const grantOf = ({ scopes = [], waba_ids, addresses, expires_at }: Values): Grant => ({
  scopes: scopes as Grant['scopes'],
  waba_ids: (waba_ids as string[] | null | undefined) ?? null,
  addresses: (addresses as string[] | null | undefined) ?? null,
  expires_at: typeof expires_at === 'string' ? new Date(expires_at) : null,
});

export const cut = (text: string): string => text.slice(0, TEXT_MAX);

/** Names and IDs, each cut, and no more than TARGETS_MAX of them. */
export const boundedTarget = (target: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(target)
      .slice(0, TARGETS_MAX)
      // MongoDB reads a dot as a path.
      .filter(([name]) => /^\w{1,64}$/.test(name))
      .map(([name, id]) => [name, cut(id)]),
  );

/** Null without values. Of an address only the host is kept: the rest may hold a secret. */
export function recordable(values: Values | undefined): Values | null {
  const kept = Object.entries(values ?? {}).slice(0, FIELDS_MAX);
  if (kept.length === 0) return null;
  return Object.fromEntries(kept.map(([name, value]) => [name, bounded(withoutSecrets(value))]));
}

const bounded = (value: unknown): unknown =>
  Buffer.byteLength(JSON.stringify(value) ?? '') > VALUE_BYTES_MAX ? TOO_LONG : value;

const ADDRESS = /^https?:\/\//i;

/** The host of an address; any other value unchanged. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'string' || !ADDRESS.test(value)) return value;
  if (!URL.canParse(value)) return '(not an address)';
  const { protocol, host } = new URL(value);
  return `${protocol}//${host}/…`;
}

/** A stored record as the RPCs and the operator's destination have it. */
export const recordMessage = (entry: AuditEntry): AuditRecord =>
  messageOf(AuditRecord, { ...entry, id: entry._id });

export const writeCursor = ({ at, id }: AuditPosition): string =>
  Buffer.from(JSON.stringify([at.getTime(), id])).toString('base64url');

/** Throws INVALID_FIELD. */
export function readCursor(text: string): AuditPosition {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalidCursor();
  }
  const [time, id] = Array.isArray(read) ? (read as unknown[]) : [];
  const at = new Date(typeof time === 'number' ? time : NaN);
  if (typeof id !== 'string' || Number.isNaN(at.getTime())) throw invalidCursor();
  return { at, id };
}

const invalidCursor = () =>
  invalidField('cursor', 'must be `paging.cursors.after` of the previous page');

/** In the order of the columns; new ones are added at the end. */
const COLUMNS: ReadonlyArray<[name: string, of: (entry: AuditEntry) => string | null]> = [
  ['id', ({ _id }) => _id],
  ['at', ({ at }) => at.toISOString()],
  ['actor_type', ({ actor }) => actor.type],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_name', ({ actor }) => actor.name],
  ['action', ({ action }) => action],
  ['target', ({ target }) => JSON.stringify(target)],
  ['fields', ({ fields }) => fields.join(' ')],
  ['before', ({ before }) => before && JSON.stringify(before)],
  ['after', ({ after }) => after && JSON.stringify(after)],
  ['outcome', ({ outcome }) => outcome],
  ['code', ({ code }) => code],
  ['request_id', ({ request_id }) => request_id],
  ['address', ({ address }) => address],
  ['ended_at', ({ ended_at }) => ended_at && ended_at.toISOString()],
  ['count', ({ count = 1 }) => String(count)],
];

export const auditCsvHeader = csvLine(COLUMNS.map(([name]) => name));
export const auditCsvLine = (entry: AuditEntry): string =>
  csvLine(COLUMNS.map(([, of]) => of(entry)));
