import type { Received } from '@bmg/common/bus';
import type { Statuses, Statuses_Status } from '@bmg/proto/stream';
import { createFiller } from '../src/template/params';
import { readContacts } from '../src/create/validate-request';
import type { Contact, Broadcast } from '../src/ground/types';
import { newSalt } from '../src/ground/request-id';
import { chunksOf } from '../src/create/create-broadcast';
import type { Stores } from './stores';

export const phone = (index: number): string => String(15_550_000_000 + index);

export const someContacts = (count: number, from = 0): Contact[] =>
  Array.from({ length: count }, (_, index) => ({ recipient: phone(from + index), params: null }));

export const aBroadcast = (overrides: Partial<Broadcast> = {}): Broadcast => ({
  _id: 1,
  partner_id: 'ptn_1',
  waba_id: '800',
  phone_number_id: '700',
  name: 'Autumn',
  template_name: 'order_update',
  template_language: 'en_US',
  template_components: '[]',
  salt: newSalt(),
  chunk_count: 0,
  total: 0,
  skipped: 0,
  duplicates: 0,
  status: 'draft',
  scheduled_at: null,
  started_at: null,
  completed_at: null,
  created_at: new Date(),
  stop: null,
  has_contacts: true,
  ...overrides,
});

/** A record of the topic `status`. */
export const aStatus = (
  status: string,
  over: Partial<Statuses_Status> = {},
  number: Pick<Statuses, 'phone_number_id'> = { phone_number_id: '700' },
): Received<Statuses> => ({
  message: {
    waba_id: '800',
    ...number,
    statuses: [
      {
        message_id: 'wamid.1',
        status,
        timestamp: 1,
        received_at_ms: 1,
        reconciled: false,
        ...over,
      },
    ],
  },
  ...{ key: '', span: undefined, partition: 0, offset: '0' },
});

/** A test file has a database of its own. */
let last_id = 0;

/** Stores a broadcast like a creation of the previous release; returns the stored one. */
export async function storeBroadcast(
  { broadcasts, chunks }: Pick<Stores, 'broadcasts' | 'chunks'>,
  contacts: Contact[],
  overrides: Partial<Broadcast> = {},
): Promise<Broadcast> {
  const pages = chunksOf(contacts);
  const draft = aBroadcast({
    _id: (last_id += 1),
    chunk_count: pages.length,
    total: contacts.length,
    ...overrides,
  });
  await broadcasts.insertDraft(draft);
  await chunks.insert(draft, pages);
  const queued = draft.scheduled_at ? 'schedule' : 'queue';
  const stored = await broadcasts.move(draft._id, draft.approval ? 'awaitApproval' : queued);
  if (!stored) throw new Error('the draft did not become a broadcast');
  return stored;
}

export const readPlain = (
  contacts: Array<{ recipient?: string; params?: Record<string, unknown> }>,
) => readContacts(contacts, createFiller([]));
