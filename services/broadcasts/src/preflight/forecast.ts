// What a stored broadcast that has not started would cost now, and how long it would take: for the
// person who approves it. The prices and windows of its creation may have changed since.
import type { Credential, Credentials } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { createByteRate, createPool, type ByteRate, type Pool } from '@bmg/common/overload';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { BroadcastStatus } from '../ground/broadcast-machine';
import { chunkIds } from '../ground/request-id';
import type { Chunks } from '../records';
import type { Broadcast } from '../ground/types';
import type { FindTemplate } from '../template';
import type { NumberPace } from './number-pace';
import { estimateRun } from './outlook';

export interface ForecastDependencies {
  chunks: Pick<Chunks, 'contacts'>;
  credentials: Pick<Credentials, 'of'>;
  findTemplate: FindTemplate;
  messaging: Pick<Client<MessagingDefinition>, 'checkContacts'>;
  readPace(target: Target, credential: Credential): Promise<NumberPace>;
  limits: ForecastLimits;
  now: () => Date;
}

/** A request of a few bytes looks up as many as 10,000 contacts, in two services. */
interface ForecastLimits {
  forecasts: Pool;
  /** Counts contacts instead of bytes. */
  rate: ByteRate;
}

/** At a time in a replica, half of them of one partner. */
const FORECASTS_MAX = 4;
/** Contacts of one partner a second. */
const CONTACTS_PER_S = 20_000;

export const createForecastLimits = (log: Logger): ForecastLimits => ({
  forecasts: createPool(
    { server: 'broadcasts', reason: 'forecasts', holder: 'partner', max: FORECASTS_MAX },
    log,
  ),
  rate: createByteRate(CONTACTS_PER_S),
});

const NOT_STARTED: readonly BroadcastStatus[] = ['awaiting_approval', 'scheduled', 'pending'];

/**
 * Undefined once it has started or ended. Throws RATE_LIMIT_EXCEEDED if too many forecasts, of the
 * partner or of all, are being made.
 */
export async function forecastBroadcast(
  deps: ForecastDependencies,
  broadcast: Broadcast,
  call: Call,
): Promise<Json | undefined> {
  if (!NOT_STARTED.includes(broadcast.status)) return undefined;
  const { forecasts, rate } = deps.limits;
  const { partner_id, total } = broadcast;
  return forecasts.run(partner_id, tooManyForecasts, async () => {
    await rate.turn(partner_id, total);
    return forecast(deps, broadcast, call);
  });
}

const tooManyForecasts = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many forecasts of broadcasts are being made: try again in a moment',
    { retry_after_s: 1 },
  );

async function forecast(
  deps: ForecastDependencies,
  broadcast: Broadcast,
  call: Call,
): Promise<Json> {
  const { partner_id, waba_id, phone_number_id, total } = broadcast;
  const target: Target = { partner_id, waba_id, phone_number_id, directory_version: '' };
  const now = deps.now();
  const starts_at = latest(broadcast.scheduled_at, now);
  const name = { name: broadcast.template_name, language: broadcast.template_language };
  const [recipients, credential, { template }] = await Promise.all([
    recipientsOf(deps.chunks, broadcast),
    deps.credentials.of(target, call),
    deps.findTemplate(target, name, call),
  ]);
  const [pace, known] = await Promise.all([
    deps.readPace(target, credential),
    deps.messaging.checkContacts(
      { target, recipients, category: template?.category.toLowerCase(), at: starts_at },
      call,
    ),
  ]);
  return {
    ...estimateRun(pace, starts_at, total, now),
    total,
    failing: known.findings.reduce((sum, { places }) => sum + places.length, 0),
    windows: { ...known.windows },
    cost: known.cost ?? null,
  };
}

const latest = (scheduled_at: Date | null, now: Date): Date =>
  scheduled_at && scheduled_at > now ? scheduled_at : now;

async function recipientsOf(
  chunks: ForecastDependencies['chunks'],
  broadcast: Broadcast,
): Promise<string[]> {
  const recipients: string[] = [];
  for (const id of chunkIds(broadcast)) {
    for (const { recipient } of (await chunks.contacts(id)) ?? []) recipients.push(recipient);
  }
  return recipients;
}
