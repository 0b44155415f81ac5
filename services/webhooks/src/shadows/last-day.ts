// Sends the last day's events to shadows, with the answers of the first receiver from the event
// log, and ends every shadow when its time is over.
import type { Poller } from '@bmg/common/lifecycle';
import { ownCall, type Call, type Client } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import type { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import type { Answer } from './answers';
import { createShadowPosts, ShadowEnded, type PostDependencies, type PostToShadow } from './post';
import {
  attemptOf,
  createLeasedWork,
  type EventWithAttempts,
  type Reader,
  type Turn,
  work,
} from '../event-log';
import type { Result, ShadowProgress, Shadows, ShadowStatus, StoredShadow } from './store';

interface EndDependencies {
  shadows: Pick<Shadows, 'end'>;
  registry: Pick<Client<EndpointRegistryDefinition>, 'removeShadow'>;
}

export interface LastDayDependencies extends PostDependencies, EndDependencies {
  shadows: Shadows;
  reader: Reader;
}

/** Beside the places of replays, which do not wait for them. */
const LIMITS = { running_max: 2, turn_ms: 30_000 };
const CALL_LIMIT_MS = 5_000;

export function createLastDay(deps: LastDayDependencies): Poller {
  const post = createShadowPosts(deps);
  return createLeasedWork<StoredShadow, ShadowProgress>({
    name: 'shadows',
    jobs: deps.shadows,
    endsAt: ({ ends_at }) => ends_at.getTime(),
    async work(shadow, turn) {
      const status = await workOn(deps.reader, post, shadow, turn);
      if (status === 'running') return false;
      await endShadow(deps, shadow, status, ownCall(unsampled(), CALL_LIMIT_MS));
      return true;
    },
    limits: LIMITS,
    log: deps.log,
  });
}

/** Takes one turn; returns the status after it. */
async function workOn(
  reader: Reader,
  post: PostToShadow,
  shadow: StoredShadow,
  turn: Turn<ShadowProgress>,
): Promise<ShadowStatus> {
  const isOver = (): boolean => Date.now() >= shadow.ends_at.getTime();
  if (shadow.source === 'live') return isOver() ? 'completed' : 'running';
  const { _id: shadow_id, endpoint_id } = shadow;
  const positions = { ...shadow, waba_id: null, events: null, event_ids: null, delivered: 0 };
  let results: Result[] = [];
  const save = async ({ position = positions.position, ahead = [] }: ShadowProgress) => {
    Object.assign(positions, { position, ahead });
    const added = results;
    results = [];
    await turn.save({ position, ahead, results: added });
  };
  try {
    await work(reader, positions, { ...turn, save }, async (event) => {
      const first = firstAnswer(event, endpoint_id);
      // The first receiver did not get it.
      if (!first) return true;
      const { stopped } = turn;
      const answer = await post({ shadow_id, attempt: attemptOf(event, 1), part: 1, stopped });
      if (!answer) return false;
      const { event_id, event: name } = event;
      results.push({ event_id, event: name, at: new Date(), first, shadow: answer });
      return true;
    });
  } catch (error) {
    if (!(error instanceof ShadowEnded)) throw error;
    return 'stopped';
  }
  if (positions.position >= positions.last) return 'completed';
  return isOver() ? 'expired' : 'running';
}

/** Ends it at onboarding first, so that no replica sends it anything afterwards. */
export async function endShadow(
  { registry, shadows }: EndDependencies,
  { _id: shadow_id, partner_id, ends_at }: StoredShadow,
  status: ShadowStatus,
  call: Call,
): Promise<void> {
  await registry.removeShadow({ partner_id, shadow_id }, call);
  await shadows.end(shadow_id, status, new Date(Math.min(Date.now(), ends_at.getTime())));
}

/** How the first receiver answered its first attempt; undefined if it got none. */
function firstAnswer(
  { each_attempt }: EventWithAttempts,
  endpoint_id: string | null,
): Answer | undefined {
  const attempt = each_attempt.find(
    (one) => (one.endpoint_id ?? null) === endpoint_id && one.url !== null,
  );
  if (!attempt) return undefined;
  const { http_status, error, duration_ms } = attempt;
  return { http_status, error, duration_ms };
}
