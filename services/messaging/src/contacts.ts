// GET /contacts/{phone}, and what the service learns about phone numbers. The upstream offers no contact
// check, so the answer comes from sends, inbound messages and contact sync (decisions, Success). An unknown
// number does not exist; the service never guesses.
import { needTarget } from '@bmg/common/upstream';
import type { Received } from '@bmg/common/bus';
import { invalidField } from '@bmg/common/errors';
import { normalisePhone } from '@bmg/common/ids';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { LookupContactRequest, LookupContactResponse, SendResult } from '@bmg/proto/messaging';
import type { Event } from '@bmg/proto/stream';
import type { ContactChange, Contacts } from './store/contacts';

export async function lookupContact(
  contacts: Pick<Contacts, 'find'>,
  request: LookupContactRequest,
): Promise<LookupContactResponse> {
  const target = needTarget(request.target);
  const phone = normalisePhone(request.phone);
  if (phone === null) throw invalidField('phone', 'is not a phone number in international format');
  const found = await contacts.find(target.waba_id, phone);
  return { phone, exists: found !== null, wa_id: found?.wa_id };
}

export interface LearnDependencies {
  contacts: Pick<Contacts, 'learn'>;
  now: () => Date;
  log: Logger;
}

type Send<Q> = (request: Q, call: Call) => Promise<SendResult>;

/** Wraps a send handler so that the contacts in its answers are stored. */
export interface Learner {
  <Q extends { target?: Target | undefined }>(send: Send<Q>): Send<Q>;
}

/** A contact stored less than this long ago is not stored again. */
const RECENT_MS = 3_600_000;
const RECENT_MAX = 20_000;

/** Stores contacts in the background: the sender does not wait, and the next send retries a failed write. */
export function createLearner({ contacts, now, log }: LearnDependencies): Learner {
  const recent = new Map<string, { wa_id: string; at: number }>();
  let failing = false;
  const learn = async (waba_id: string, phone: string, wa_id: string): Promise<void> => {
    const key = `${waba_id}/${phone}`;
    const at = now();
    const known = recent.get(key);
    if (known?.wa_id === wa_id && at.getTime() - known.at < RECENT_MS) return;
    remember(recent, key, { wa_id, at: at.getTime() });
    try {
      await contacts.learn({ waba_id, phone, wa_id, source: 'traffic', at });
      failing = false;
    } catch (error) {
      recent.delete(key);
      if (!failing) log.warn({ err: error }, 'failed to store contacts');
      failing = true;
    }
  };
  return (send) => async (request, call) => {
    const result = await send(request, call);
    for (const { input, wa_id } of result.contacts) {
      if (!request.target || !wa_id) continue;
      // The two differ in countries whose numbers the platform spells differently.
      for (const phone of new Set([normalisePhone(input), normalisePhone(wa_id)])) {
        if (phone !== null) void learn(request.target.waba_id, phone, wa_id);
      }
    }
    return result;
  };
}

/** Evicts the oldest entry, so that memory stays bounded. */
function remember<V>(recent: Map<string, V>, key: string, value: V): void {
  recent.delete(key);
  recent.set(key, value);
  const [oldest] = recent.keys();
  if (recent.size > RECENT_MAX && oldest !== undefined) recent.delete(oldest);
}

/** Returns the handler of event batches. Events that say nothing about a contact are ignored. */
export const applyContactEvents =
  (contacts: Pick<Contacts, 'apply'>) =>
  async (batch: Received<Event>[]): Promise<void> =>
    contacts.apply(batch.flatMap(({ message }) => changeOf(message) ?? []));

type Reader = (data: Record<string, unknown>) => Statement | undefined;

interface Statement {
  phone: unknown;
  wa_id?: unknown;
  kind: 'traffic' | 'synced' | 'unsynced' | 'undeliverable';
}

const received: Reader = ({ from, contact }) => ({
  phone: from,
  wa_id: (contact as { wa_id?: unknown } | null | undefined)?.wa_id,
  kind: 'traffic',
});

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['message.received', received],
  ['standby.message_received', received],
  [
    'contact.synced',
    ({ phone_number, action }) => ({
      phone: phone_number,
      kind: action === 'remove' ? 'unsynced' : 'synced',
    }),
  ],
  [
    'message.failed',
    ({ recipient, errors }) =>
      isUndeliverable(errors) ? { phone: recipient, kind: 'undeliverable' } : undefined,
  ],
]);

/** The upstream accepts a send to an unknown number and reports the failure later. */
const UNDELIVERABLE = 131026;
/** Our clock stamped the send, the upstream's clock its failure. */
const CLOCK_SKEW_MS = 5_000;

const isUndeliverable = (errors: unknown): boolean =>
  Array.isArray(errors) &&
  errors.some((error: { code?: unknown } | null) => Number(error?.code) === UNDELIVERABLE);

function changeOf({ event, waba_id, timestamp, data }: Event): ContactChange | undefined {
  const said = READERS.get(event)?.(JSON.parse(data) as Record<string, unknown>);
  const phone = typeof said?.phone === 'string' ? normalisePhone(said.phone) : null;
  if (!said || phone === null || waba_id === '') return undefined;
  const at_ms = timestamp * 1_000;
  const about = { waba_id, phone, at: new Date(at_ms) };
  switch (said.kind) {
    case 'unsynced':
      return { remove: { ...about, source: 'sync' } };
    case 'undeliverable':
      return { remove: { ...about, at: new Date(at_ms + CLOCK_SKEW_MS) } };
    case 'synced':
      return { learn: { ...about, wa_id: phone, source: 'sync' } };
    case 'traffic': {
      const wa_id = typeof said.wa_id === 'string' && said.wa_id !== '' ? said.wa_id : phone;
      return { learn: { ...about, wa_id, source: 'traffic' } };
    }
  }
}
