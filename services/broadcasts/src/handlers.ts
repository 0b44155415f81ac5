// The RPCs of the service.
import type { Credential } from '@bmg/common/directory';
import { implement, type Handlers } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { needTarget } from '@bmg/common/upstream';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import {
  countsByBroadcast,
  detail,
  summary,
  zeroCounts,
  type Counts,
} from './contact-states/progress';
import { BroadcastCreator } from './create/create-broadcast';
import type { Dependencies } from './dependencies';
import { stateAt } from './ground/contact-state';
import { chunkIds, numberOf, readRequestId, requestIdPrefix } from './ground/request-id';
import type { Broadcast } from './ground/types';
import { createPartnerChanges, notFound, scopeOf } from './partner-changes';
import {
  createForecastLimits,
  forecastBroadcast,
  type ForecastDependencies,
} from './preflight/forecast';
import { readNumberPace, type NumberPaceDependencies } from './preflight/number-pace';
import { preflightBroadcast } from './preflight/preflight-broadcast';
import { createFindTemplate } from './template/find';

/** Contract 9.5: `GET /broadcasts` paging. */
const LIST_DEFAULT = 20;
const LIST_MAX = 100;

export function broadcastRpcs(shared: Dependencies): Feature {
  const { chunks, config, credentials, log, runner } = shared;
  const paceDeps = {
    ...shared,
    share_percent: config.BROADCAST_SHARE_PERCENT,
    /**
     * Reads the counters of all given broadcasts at once; those that have not started have none.
     */
    async readCounts(list: Broadcast[]): Promise<(broadcast: Broadcast) => Counts> {
      const ids = list.filter(({ started_at }) => started_at !== null).flatMap(chunkIds);
      const found = countsByBroadcast(ids.length === 0 ? [] : await chunks.counts(ids));
      return ({ _id }) => found.get(_id) ?? zeroCounts();
    },
  };
  const deps = {
    ...paceDeps,
    readPace: ({ phone_number_id }: Target, credential: Credential) =>
      readNumberPace(paceDeps, phone_number_id, credential),
    findTemplate: createFindTemplate(shared),
    waiting_max: config.BROADCAST_WAITING_MAX,
    limits: createForecastLimits(log),
    wake: () => runner.wake(),
    now: () => new Date(),
  };
  const creator = new BroadcastCreator(deps);
  return {
    rpcs: [
      implement(BroadcastsDefinition, {
        createBroadcast: (request, call) => creator.create(request, call),
        checkBroadcast: (request, call) => preflightBroadcast(deps, request, call),
        async getPace(request, call) {
          const target = needTarget(request.target);
          const credential = await credentials.of(target, call);
          const { rate_per_sec, queued } = await deps.readPace(target, credential);
          return { rate_per_sec, queued };
        },
        ...createReads(deps),
        ...createPartnerChanges(deps),
      }),
    ],
  };
}

type ReadDependencies = Pick<Dependencies, 'broadcasts' | 'chunks' | 'pace'> &
  ForecastDependencies &
  Pick<NumberPaceDependencies, 'readCounts'>;

function createReads(
  deps: ReadDependencies,
): Pick<
  Handlers<BroadcastsDefinition>,
  'listBroadcasts' | 'getBroadcast' | 'findContact' | 'findBroadcast'
> {
  const { broadcasts, chunks, now, readCounts } = deps;
  return {
    async listBroadcasts(request) {
      const limit = Math.min(request.limit > 0 ? request.limit : LIST_DEFAULT, LIST_MAX);
      const offset = Math.max(0, request.offset);
      const page = await broadcasts.list(scopeOf(request), { limit, offset });
      const countsOf = await readCounts(page.broadcasts);
      return {
        broadcasts: page.broadcasts.map((broadcast) => summary(broadcast, countsOf(broadcast))),
        total: page.total,
      };
    },
    async getBroadcast(request, call) {
      const broadcast = await broadcasts.find(scopeOf(request), request.broadcast_id);
      if (!broadcast) throw notFound();
      const [countsOf, rate, forecast] = await Promise.all([
        readCounts([broadcast]),
        paceOf(deps, broadcast),
        request.forecast ? forecastBroadcast(deps, broadcast, call) : undefined,
      ]);
      return { ...detail(broadcast, countsOf(broadcast), now(), rate), forecast };
    },
    async findContact({ partner_id, request_id }) {
      const ref = readRequestId(request_id);
      const [chunk] = ref ? await chunks.load([ref.chunk_id]) : [];
      if (!ref || !chunk || chunk.salt !== ref.salt) return {};
      const [broadcast] = await broadcasts.load([chunk.broadcast_id]);
      const state = stateAt(chunk.progress.states, ref.index);
      if (broadcast?.partner_id !== partner_id || !state) return {};
      return { contact: { broadcast_id: numberOf(broadcast), name: broadcast.name, state } };
    },
    async findBroadcast(request) {
      const broadcast = await broadcasts.find(scopeOf(request), request.broadcast_id);
      if (!broadcast) throw notFound();
      const { _id, started_at } = broadcast;
      return { request_id_prefix: requestIdPrefix(_id), started_at: started_at ?? undefined };
    },
  };
}

async function paceOf(
  { broadcasts, pace }: Pick<ReadDependencies, 'broadcasts' | 'pace'>,
  { status, phone_number_id }: Broadcast,
) {
  if (status !== 'processing') return { number_rate: undefined, sharing: 1 };
  const [number_rate, sharing] = await Promise.all([
    pace.rate(phone_number_id),
    broadcasts.countProcessing(phone_number_id),
  ]);
  return { number_rate, sharing };
}
