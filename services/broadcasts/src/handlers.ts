import type { Credential } from '@bmg/common/directory';
import type { Handlers } from '@bmg/common/rpc';
import { needTarget } from '@bmg/common/upstream';
import type { BroadcastsDefinition, CancelBroadcastRequest } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import { forecastBroadcast, type ForecastLimits } from './preflight/forecast';
import { preflightBroadcast, type PreflightDependencies } from './preflight/preflight-broadcast';
import { readNumberPace, type NumberPaceDependencies } from './preflight/number-pace';
import { BroadcastCreator, type CreateDependencies } from './create/create-broadcast';
import { stateAt } from './contact-states/contact-state';
import {
  countsByBroadcast,
  detail,
  summary,
  zeroCounts,
  type Counts,
} from './contact-states/progress';
import { approveBroadcast, changeBroadcast, notFound } from './partner-changes';
import { chunkIds, readRequestId, requestIdPrefix } from './request-id';
import { numberOf } from './store/broadcast-ids';
import type { PartnerEvent, Scope } from './store/broadcasts';
import { removeContactsOf } from './store/remove-contacts';
import type { Broadcast } from './store/types';

export type HandlerDependencies = CreateDependencies &
  Omit<PreflightDependencies, 'readPace'> &
  NumberPaceDependencies & { forecast_limits: ForecastLimits };

/** Contract 9.5: `GET /broadcasts` paging. */
const LIST_DEFAULT = 20;
const LIST_MAX = 100;

const scopeOf = ({ partner_id, waba_id }: Scope): Scope => ({ partner_id, waba_id });

/** Longer than 70 lines: one short handler for each RPC. */
export function createBroadcastHandlers(deps: HandlerDependencies): Handlers<BroadcastsDefinition> {
  const { broadcasts, chunks, pace, now, wake } = deps;
  const creator = new BroadcastCreator(deps);

  /** Reads the counters of all given broadcasts at once; those that have not started have none. */
  const readCounts = async (list: Broadcast[]): Promise<(broadcast: Broadcast) => Counts> => {
    const ids = list.filter(({ started_at }) => started_at !== null).flatMap(chunkIds);
    const found = countsByBroadcast(ids.length === 0 ? [] : await chunks.counts(ids));
    return ({ _id }) => found.get(_id) ?? zeroCounts();
  };
  const paceOf = async ({ status, phone_number_id }: Broadcast) => {
    if (status !== 'processing') return { number_rate: undefined, sharing: 1 };
    const [number_rate, sharing] = await Promise.all([
      pace.rate(phone_number_id),
      broadcasts.countProcessing(phone_number_id),
    ]);
    return { number_rate, sharing };
  };

  const change = (
    q: CancelBroadcastRequest,
    event: PartnerEvent,
    set: { paused_at?: Date | null } = {},
  ) => changeBroadcast(broadcasts, { scope: scopeOf(q), number: q.broadcast_id, event, set });

  const readPace = ({ phone_number_id }: Target, credential: Credential) =>
    readNumberPace(deps, phone_number_id, credential, readCounts);

  return {
    createBroadcast: (q, call) => creator.create(q, call),
    async listBroadcasts(q) {
      const limit = Math.min(q.limit > 0 ? q.limit : LIST_DEFAULT, LIST_MAX);
      const page = await broadcasts.list(scopeOf(q), { limit, offset: Math.max(0, q.offset) });
      const countsOf = await readCounts(page.broadcasts);
      return {
        broadcasts: page.broadcasts.map((broadcast) => summary(broadcast, countsOf(broadcast))),
        total: page.total,
      };
    },
    async getBroadcast(q, call) {
      const broadcast = await broadcasts.find(scopeOf(q), q.broadcast_id);
      if (!broadcast) throw notFound();
      const [countsOf, rate, forecast] = await Promise.all([
        readCounts([broadcast]),
        paceOf(broadcast),
        q.forecast
          ? forecastBroadcast({ ...deps, readPace, limits: deps.forecast_limits }, broadcast, call)
          : undefined,
      ]);
      return { ...detail(broadcast, countsOf(broadcast), now(), rate), forecast };
    },
    async cancelBroadcast(q) {
      const cancelled = await change(q, 'cancel');
      if (cancelled) await removeContactsOf(cancelled, deps);
      return {};
    },
    async pauseBroadcast(q) {
      await change(q, 'pause', { paused_at: now() });
      wake();
      return {};
    },
    async resumeBroadcast(q) {
      await change(q, 'resume', { paused_at: null });
      wake();
      return {};
    },
    async approveBroadcast(q) {
      await approveBroadcast(
        broadcasts,
        { scope: scopeOf(q), number: q.broadcast_id },
        { person_id: q.caller_person_id, at: now() },
      );
      wake();
      return {};
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
    async findBroadcast(q) {
      const broadcast = await broadcasts.find(scopeOf(q), q.broadcast_id);
      if (!broadcast) throw notFound();
      return {
        request_id_prefix: requestIdPrefix(broadcast._id),
        started_at: broadcast.started_at ?? undefined,
      };
    },
    async getPace(q, call) {
      const target = needTarget(q.target);
      const { rate_per_sec, queued } = await readPace(
        target,
        await deps.credentials.of(target, call),
      );
      return { rate_per_sec, queued };
    },
    checkBroadcast: (q, call) => preflightBroadcast({ ...deps, readPace }, q, call),
  };
}
