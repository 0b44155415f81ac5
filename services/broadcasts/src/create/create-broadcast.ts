// A new broadcast: everything is checked before anything is stored, and nobody sees it before all of it is.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import { needTarget } from '@bmg/common/upstream';
import type { CreateBroadcastRequest, CreateBroadcastResponse } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import { readContacts, type Contact, type ReadContacts } from './contacts';
import { limitWarnings } from './messaging-limit';
import { chunkIds, newSalt } from '../request-id';
import type { Broadcasts } from '../store/broadcasts';
import type { Chunks } from '../store/chunks';
import type { Broadcast, Warning } from '../store/types';
import type { TemplateCheck } from '../template/check';
import { createFiller } from '../template/params';
import { checkContacts } from '../template/rules';

export interface CreateDependencies {
  broadcasts: Broadcasts;
  chunks: Chunks;
  credentials: Credentials;
  checkTemplate: TemplateCheck;
  /** Tells the runner that there is something to do. */
  wake: () => void;
  now: () => Date;
  log: Logger;
}

/** A chunk is what one worker takes at a time, and what is read into memory: small however large the broadcast. */
const CHUNK_CONTACTS = 500;
const CHUNK_BYTES = 256 * 1024;
const CONTACT_OVERHEAD_BYTES = 32;
/** Filled in for every contact. */
const COMPONENTS_BYTES_MAX = 64 * 1024;
/** Decisions, Repeating a request safely. */
const KEY_LIFE_MS = 24 * 3_600_000;
/** Creating takes a second or two; a draft older than this has no creator any more. */
const CREATING_LIMIT_MS = 60_000;

interface Extras {
  idempotency: string | undefined;
  fingerprint: string | undefined;
  warnings: Warning[];
}

export function createCreate(deps: CreateDependencies) {
  const { broadcasts, chunks, credentials, checkTemplate, now, log } = deps;

  return async (q: CreateBroadcastRequest, call: Call): Promise<CreateBroadcastResponse> => {
    const target = needTarget(q.target);
    const key = call.idempotency && `${target.partner_id}/${call.idempotency.key}`;
    const before = key && (await repeated(key, call.idempotency?.fingerprint));
    if (before) return answer(before);

    const read = check(q, now());
    // A scheduled one may well be created while its number is paused for some minutes.
    const credential = q.scheduled_at
      ? await credentials.of(target, call)
      : await credentials.forSending(target, call);
    await judgeTemplate(target, q, read, call);

    const warnings = limitWarnings(credential.messaging_limit_tier, read.contacts.length);
    const used = { idempotency: key, fingerprint: call.idempotency?.fingerprint };
    const broadcast = await store(target, q, read, { ...used, warnings });
    if (!q.scheduled_at) deps.wake();
    return answer(broadcast);
  };

  async function judgeTemplate(
    target: Target,
    q: CreateBroadcastRequest,
    read: ReadContacts & { filler: ReturnType<typeof createFiller> },
    call: Call,
  ): Promise<void> {
    const template = { name: q.template_name, language: q.template_language };
    const judged = await checkTemplate(target, template, call);
    if (judged instanceof ApiError) throw judged;
    if (judged) checkContacts(judged, read, read.filler);
  }

  /** A draft first, which nobody is shown; the move that makes it a broadcast comes last. */
  async function store(
    target: Target,
    q: CreateBroadcastRequest,
    read: ReadContacts,
    { idempotency, fingerprint, warnings }: Extras,
  ): Promise<Broadcast> {
    const pages = paged(read.contacts);
    const draft: Broadcast = {
      _id: await broadcasts.nextId(),
      partner_id: target.partner_id,
      waba_id: target.waba_id,
      phone_number_id: target.phone_number_id,
      name: q.name,
      template_name: q.template_name,
      template_language: q.template_language,
      template_components: JSON.stringify(q.template_components),
      salt: newSalt(),
      chunk_count: pages.length,
      total: read.contacts.length,
      skipped: read.skipped,
      duplicates: read.duplicates,
      status: 'draft',
      scheduled_at: q.scheduled_at ?? null,
      started_at: null,
      completed_at: null,
      created_at: now(),
      stop: null,
      has_contacts: true,
      warnings,
      ...(idempotency !== undefined && { idempotency, fingerprint: fingerprint ?? '' }),
    };
    if ((await broadcasts.insertDraft(draft)) === 'taken') {
      const other = idempotency && (await repeated(idempotency, fingerprint));
      if (other) return other;
      throw inUse();
    }
    try {
      await chunks.insert(draft, pages);
      const stored = await broadcasts.move(draft._id, q.scheduled_at ? 'schedule' : 'queue');
      if (!stored) throw new Error('a draft was removed while it was being stored');
      return stored;
    } catch (error) {
      // Whatever is left of it is swept later; the key is free again at once.
      await discard(draft).catch(() => log.warn({ broadcast_id: draft._id }, 'a draft is left'));
      throw error;
    }
  }

  async function discard(draft: Broadcast): Promise<void> {
    await broadcasts.remove(draft._id);
    await chunks.removeContacts(chunkIds(draft));
    await chunks.remove(chunkIds(draft));
  }

  /** What was created under this key before; undefined when it is free. */
  async function repeated(key: string, fingerprint = ''): Promise<Broadcast | undefined> {
    const found = await broadcasts.findByKey(key);
    if (!found) return undefined;
    const age = now().getTime() - found.created_at.getTime();
    if (age > KEY_LIFE_MS) {
      await broadcasts.forgetKey(found._id, key);
      return undefined;
    }
    if (found.fingerprint !== fingerprint) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'this Idempotency-Key was used with another body',
      );
    }
    if (found.status !== 'draft') return found;
    if (age <= CREATING_LIMIT_MS) throw inUse();
    await discard(found);
    return undefined;
  }
}

const inUse = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_IN_USE',
    'the first request with this Idempotency-Key is still running',
    {
      retry_after_s: 1,
    },
  );

/** The answer of the first time, whatever has become of the broadcast since. */
const answer = (broadcast: Broadcast): CreateBroadcastResponse => ({
  broadcast_id: broadcast._id,
  status: broadcast.scheduled_at ? 'scheduled' : 'pending',
  total: broadcast.total,
  skipped: broadcast.skipped,
  duplicates: broadcast.duplicates,
  warnings: broadcast.warnings ?? [],
});

/** Decisions, Which 400: what is missing is said first, all of it. */
function check(
  q: CreateBroadcastRequest,
  now: Date,
): ReadContacts & { filler: ReturnType<typeof createFiller> } {
  const missing = (['name', 'template_name', 'template_language'] as const).filter(
    (field) => q[field].trim() === '',
  );
  if (q.contacts.length === 0) missing.push('contacts' as never);
  if (missing.length > 0) throw missingFields(missing);
  checkTime(q.scheduled_at, now);
  if (Buffer.byteLength(JSON.stringify(q.template_components)) > COMPONENTS_BYTES_MAX) {
    throw invalidField('template_components', `is larger than ${COMPONENTS_BYTES_MAX} bytes`);
  }
  const filler = createFiller(q.template_components);
  return { ...readContacts(q.contacts, filler), filler };
}

function checkTime(scheduled_at: Date | undefined, now: Date): void {
  if (scheduled_at === undefined) return;
  if (Number.isNaN(scheduled_at.getTime())) throw invalidField('scheduled_at', 'is not a date');
  if (scheduled_at <= now) throw invalidField('scheduled_at', 'lies in the past');
}

export function paged(contacts: readonly Contact[]): Contact[][] {
  const pages: Contact[][] = [];
  let page: Contact[] = [];
  let bytes = 0;
  for (const contact of contacts) {
    const size =
      CONTACT_OVERHEAD_BYTES +
      (contact.params ? Buffer.byteLength(JSON.stringify(contact.params)) : 0);
    if (page.length > 0 && (page.length >= CHUNK_CONTACTS || bytes + size > CHUNK_BYTES)) {
      pages.push(page);
      page = [];
      bytes = 0;
    }
    page.push(contact);
    bytes += size;
  }
  if (page.length > 0) pages.push(page);
  return pages;
}
