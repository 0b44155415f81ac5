// The answer to the pre-flight of a broadcast, from its findings. Pure.
import {
  deliverableOf as outlookOf,
  type Deliverable,
  type Finding,
  type Findings,
} from '@bmg/common/preflight';
import type { Json } from '@bmg/common/upstream';
import type { CheckContactsResponse } from '@bmg/proto/messaging';
import type { ValidRequest } from '../create';
import { lastLeavesAt } from '../pace';
import type { NumberPace } from './number-pace';

export interface BroadcastFindings {
  /** Reasons to refuse the creation, or to stop the whole broadcast. */
  refusals: Findings;
  /** Reasons for which single contacts fail. */
  failures: Findings;
}

const SECOND_MS = 1_000;

/**
 * Broadcasts of a number take turns: the last contact leaves when all that are queued have left.
 */
export function estimateRun(
  { broadcasts_per_sec, queued }: NumberPace,
  starts_at: Date,
  contacts: number,
  now: Date,
) {
  const until_start_s = (starts_at.getTime() - now.getTime()) / SECOND_MS;
  const ahead = Math.max(0, queued - until_start_s * broadcasts_per_sec);
  const ends_at = lastLeavesAt(starts_at, ahead + contacts, broadcasts_per_sec);
  return {
    starts_at: starts_at.toISOString(),
    ends_at: ends_at.toISOString(),
    duration_s: Math.ceil((ends_at.getTime() - starts_at.getTime()) / SECOND_MS),
  };
}

/** `no`: a creation is refused, the broadcast stops at once, or every contact fails. */
export function deliverableOf(
  { refusals, failures }: BroadcastFindings,
  valid: ValidRequest | undefined,
): Deliverable {
  const outlook = outlookOf(refusals.list().map(({ reason }) => reason));
  if (outlook === 'no') return 'no';
  return valid && failing(failures) < valid.contacts.length ? outlook : 'no';
}

/** A contact has at most one failure. */
const failing = (failures: Findings): number =>
  failures.list().reduce((sum, { places }) => sum + places.length, 0);

export function shownReasons(
  { refusals, failures }: BroadcastFindings,
  valid: ValidRequest | undefined,
): Json[] {
  const recipients = new Map(
    valid?.contacts.map(({ recipient }, at) => [valid.places[at] as number, recipient]),
  );
  const shown =
    (scope: 'broadcast' | 'contacts') =>
    ({ reason, places, examples }: Finding): Json => ({
      ...reason,
      field: places.length > 0 ? 'contacts' : reason.field,
      scope,
      contacts: places.length > 0 ? places.length : null,
      examples: examples.map(({ place, field, message }) => ({
        field: field?.startsWith('contacts[') ? field : `contacts[${place}]`,
        recipient: recipients.get(place) ?? null,
        message,
      })),
    });
  return [...refusals.list().map(shown('broadcast')), ...failures.list().map(shown('contacts'))];
}

export const summary = (
  { contacts, skipped, duplicates }: ValidRequest,
  run: ReturnType<typeof estimateRun>,
  { windows, cost }: Pick<CheckContactsResponse, 'windows' | 'cost'>,
  { failures }: BroadcastFindings,
): Json => ({
  total: contacts.length,
  skipped,
  duplicates,
  failing: failing(failures),
  ...run,
  windows: { ...windows },
  cost: cost ?? null,
});
