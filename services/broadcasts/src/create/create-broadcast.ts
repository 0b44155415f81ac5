// Creates a broadcast: checks everything first, then stores it as a draft, which no partner sees
// until all of its contacts are stored.
import { identityOf, keyInUse, keyReused, RETENTION_MS } from '@bmg/common/idempotency';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import { needTarget } from '@bmg/common/upstream';
import type { CreateBroadcastRequest, CreateBroadcastResponse } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import { approvalMessage, neededApproval } from '../ground/approval';
import { validateRequest, type ValidRequest } from './validate-request';
import { limitWarnings, waitingRefusal, type WaitingLimit } from './limits';
import type { BroadcastEvent } from '../ground/broadcast-machine';
import { chunkIds, newSalt, numberOf } from '../ground/request-id';
import type { Broadcasts, Chunks } from '../records';
import type { Broadcast, Contact } from '../ground/types';
import { type FindTemplate, validateContacts } from '../template';

interface CreateDependencies extends WaitingLimit {
  broadcasts: Broadcasts;
  chunks: Chunks;
  credentials: Credentials;
  findTemplate: FindTemplate;
  /** Makes the runner look at the active broadcasts at once. */
  wake: () => void;
  now: () => Date;
  log: Logger;
}

/**
 * An id is taken if two broadcasts are created in the same millisecond, once in a thousand times.
 */
const ID_TRIES_MAX = 5;
/** A creation takes a second or two: a draft older than this was abandoned. */
const CREATING_LIMIT_MS = 60_000;

/** A request with an Idempotency-Key. */
interface Keyed {
  /** Each finds the broadcast that the request, or an earlier one with its key, created. */
  idempotency: string[];
  fingerprint: string;
}

type Stored = Pick<Broadcast, 'warnings' | 'approval'> & Partial<Keyed>;
type Idempotency = NonNullable<Call['idempotency']>;

export class BroadcastCreator {
  constructor(private readonly deps: CreateDependencies) {}

  /** Throws the first problem found; nothing is stored in that case. */
  async create(request: CreateBroadcastRequest, call: Call): Promise<CreateBroadcastResponse> {
    const target = needTarget(request.target);
    const keyed = call.idempotency && keyOf(target, call.idempotency);
    const earlier = keyed && (await this.findEarlier(keyed));
    if (earlier) return answerOf(earlier, call);

    const valid = await validateRequest(request, this.deps.now());
    const full = await waitingRefusal(this.deps, target);
    if (full) throw full;
    const credential = await this.readCredential(target, request, call);
    await this.validateAgainstTemplate(target, request, valid, call);

    const warnings = limitWarnings(credential.messaging_limit_tier, valid.contacts.length);
    const approval = neededApproval(valid.contacts.length, request);
    const broadcast = await this.store(target, request, valid, {
      warnings,
      ...(approval && { approval }),
      ...keyed,
    });
    if (!request.scheduled_at && !approval) this.deps.wake();
    return answerOf(broadcast, call);
  }

  /** A scheduled broadcast may be created while its number is paused: it may be active when due. */
  private readCredential(target: Target, { scheduled_at }: CreateBroadcastRequest, call: Call) {
    const { credentials } = this.deps;
    return scheduled_at ? credentials.of(target, call) : credentials.forSending(target, call);
  }

  private async validateAgainstTemplate(
    target: Target,
    request: CreateBroadcastRequest,
    valid: ValidRequest,
    call: Call,
  ): Promise<void> {
    const template = { name: request.template_name, language: request.template_language };
    const { facts, refusal } = await this.deps.findTemplate(target, template, call);
    if (refusal) throw refusal;
    if (facts) validateContacts(facts, valid, valid.filler);
  }

  /** Stores a draft and its contacts; the last write turns the draft into a broadcast. */
  private async store(
    target: Target,
    request: CreateBroadcastRequest,
    { contacts, skipped, duplicates }: ValidRequest,
    keyed: Stored,
  ): Promise<Broadcast> {
    const { broadcasts, chunks, now, log } = this.deps;
    const pages = chunksOf(contacts);
    const unnumbered: Omit<Broadcast, '_id'> = {
      partner_id: target.partner_id,
      waba_id: target.waba_id,
      phone_number_id: target.phone_number_id,
      name: request.name,
      template_name: request.template_name,
      template_language: request.template_language,
      template_components: JSON.stringify(request.template_components),
      salt: newSalt(),
      chunk_count: pages.length,
      total: contacts.length,
      skipped,
      duplicates,
      status: 'draft',
      scheduled_at: request.scheduled_at ?? null,
      started_at: null,
      completed_at: null,
      created_at: now(),
      stop: null,
      has_contacts: true,
      ...keyed,
    };
    const draft = await this.insertDraft(unnumbered);
    if (!draft) return this.findWinner(keyed);
    try {
      await chunks.insert(draft, pages);
      const stored = await broadcasts.move(draft._id, firstEventOf(draft));
      if (!stored) throw new Error('the draft was removed while its contacts were being stored');
      return stored;
    } catch (error) {
      // Frees the Idempotency-Key at once; documents that cannot be removed now are swept later.
      await this.discard(draft).catch(() =>
        log.warn(
          { partner_id: draft.partner_id, broadcast_id: numberOf(draft) },
          'failed to remove a draft',
        ),
      );
      throw error;
    }
  }

  /**
   * The broadcast that an earlier request with the same Idempotency-Key created (contract 15.3);
   * undefined if the key is free. Throws IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_KEY_IN_USE.
   */
  private async findEarlier({ idempotency, fingerprint }: Keyed): Promise<Broadcast | undefined> {
    const { broadcasts, now } = this.deps;
    const found = await broadcasts.findByKey(idempotency);
    if (!found) return undefined;
    const age_ms = now().getTime() - found.created_at.getTime();
    if (age_ms > RETENTION_MS) {
      await broadcasts.releaseKey(found._id);
      return undefined;
    }
    if (found.fingerprint !== fingerprint) throw keyReused();
    if (found.status !== 'draft') return found;
    if (age_ms <= CREATING_LIMIT_MS) throw keyInUse();
    await this.discard(found);
    return undefined;
  }

  /** The broadcast of a request that took the key while this one was being checked. */
  private async findWinner({ idempotency, fingerprint = '' }: Partial<Keyed>): Promise<Broadcast> {
    const winner = idempotency && (await this.findEarlier({ idempotency, fingerprint }));
    if (winner) return winner;
    throw keyInUse();
  }

  /** Returns undefined if the Idempotency-Key is in use. */
  private async insertDraft(unnumbered: Omit<Broadcast, '_id'>): Promise<Broadcast | undefined> {
    const { broadcasts } = this.deps;
    for (let tries = 1; tries <= ID_TRIES_MAX; tries += 1) {
      const draft = { ...unnumbered, ...(await broadcasts.newIds(unnumbered.partner_id)) };
      const inserted = await broadcasts.insertDraft(draft);
      if (inserted === 'stored') return draft;
      if (inserted === 'taken') return undefined;
    }
    throw new Error('no free id for a broadcast was found');
  }

  private async discard(draft: Broadcast): Promise<void> {
    await this.deps.broadcasts.remove(draft._id);
    await this.deps.chunks.remove(chunkIds(draft));
  }
}

const firstEventOf = ({ approval, scheduled_at }: Broadcast): BroadcastEvent => {
  if (approval) return 'awaitApproval';
  return scheduled_at ? 'schedule' : 'queue';
};

const runOf = ({ partner_id }: Pick<Target, 'partner_id'>, { key }: Idempotency): string =>
  `${partner_id}/${key}`;

/** The partner's key outlives Redis; the run is all that the previous release stored and sent. */
function keyOf(target: Target, idempotency: Idempotency): Keyed {
  const { fingerprint, given } = idempotency;
  const run = runOf(target, idempotency);
  const identities = given === undefined ? [run] : [identityOf(target.partner_id, given), run];
  return { idempotency: identities, fingerprint };
}

/**
 * The response as of creation, whatever the state of the broadcast is by now; marked as a replay if
 * another request has created it.
 */
function answerOf(broadcast: Broadcast, { idempotency }: Call): CreateBroadcastResponse {
  const { scheduled_at, total, skipped, duplicates, warnings = [], approval } = broadcast;
  const is_own =
    !idempotency || [broadcast.idempotency].flat().includes(runOf(broadcast, idempotency));
  if (!is_own) idempotency.replayed = true;
  return {
    broadcast_id: numberOf(broadcast),
    status: scheduled_at ? 'scheduled' : 'pending',
    total,
    skipped,
    duplicates,
    warnings,
    approval: approvalMessage({
      ...broadcast,
      status: 'awaiting_approval',
      ...(approval && { approval: { ...approval, approved_by: null, approved_at: null } }),
    }),
  };
}

const CONTACTS_MAX = 500;
const BYTES_MAX = 256 * 1024;
/** The recipient and the JSON around it. */
const OVERHEAD_BYTES = 32;

export function chunksOf(contacts: readonly Contact[]): Contact[][] {
  const chunks: Contact[][] = [];
  let chunk: Contact[] = [];
  let bytes = 0;
  for (const contact of contacts) {
    const size =
      OVERHEAD_BYTES + (contact.params ? Buffer.byteLength(JSON.stringify(contact.params)) : 0);
    if (chunk.length > 0 && (chunk.length >= CONTACTS_MAX || bytes + size > BYTES_MAX)) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(contact);
    bytes += size;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}
