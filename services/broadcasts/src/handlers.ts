import type { Credential } from '@bmg/common/directory';
import { implement, type Handlers } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { needTarget } from '@bmg/common/upstream';
import { BroadcastsDefinition, type CancelBroadcastRequest } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import type { Dependencies } from './dependencies';
import { createForecastLimits, forecastBroadcast, type ForecastLimits } from './preflight/forecast';
import { preflightBroadcast, type PreflightDependencies } from './preflight/preflight-broadcast';
import { readNumberPace, type NumberPaceDependencies } from './preflight/number-pace';
import { BroadcastCreator, type CreateDependencies } from './create/create-broadcast';
import { stateAt } from './ground/contact-state';
import {
  countsByBroadcast,
  detail,
  summary,
  zeroCounts,
  type Counts,
} from './contact-states/progress';
import { approveBroadcast, changeBroadcast, notFound } from './partner-changes';
import { chunkIds, readRequestId, requestIdPrefix } from './ground/request-id';
import { numberOf } from './store/broadcast-ids';
import type { PartnerEvent, Scope } from './store/broadcasts';
import { removeContactsOf } from './store/remove-contacts';
import type { Broadcast } from './store/types';
import { createFindTemplate } from './template/find';
import { createTemplateValidation } from './template/validate-template';

type HandlerDependencies = CreateDependencies &
  Omit<PreflightDependencies, 'readPace'> &
  NumberPaceDependencies & { forecast_limits: ForecastLimits };

/** Contract 9.5: `GET /broadcasts` paging. */
const LIST_DEFAULT = 20;
const LIST_MAX = 100;

const scopeOf = ({ partner_id, waba_id }: Scope): Scope => ({ partner_id, waba_id });

export const broadcastRpcs = (deps: Dependencies): Feature => ({
  rpcs: [
    implement(
      BroadcastsDefinition,
      createBroadcastHandlers({
        ...deps,
        validateTemplate: createTemplateValidation(deps),
        findTemplate: createFindTemplate(deps),
        waiting_max: deps.config.BROADCAST_WAITING_MAX,
        share_percent: deps.config.BROADCAST_SHARE_PERCENT,
        forecast_limits: createForecastLimits(deps.log),
        wake: () => deps.runner.wake(),
        now: () => new Date(),
      }),
    ),
  ],
});

/** Longer than 70 lines: one short handler for each RPC. */
function createBroadcastHandlers(deps: HandlerDependencies): Handlers<BroadcastsDefinition> {
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
    request: CancelBroadcastRequest,
    event: PartnerEvent,
    set: { paused_at?: Date | null } = {},
  ) =>
    changeBroadcast(broadcasts, {
      scope: scopeOf(request),
      number: request.broadcast_id,
      event,
      set,
    });

  const readPace = ({ phone_number_id }: Target, credential: Credential) =>
    readNumberPace(deps, phone_number_id, credential, readCounts);

  return {
    createBroadcast: (request, call) => creator.create(request, call),
    async listBroadcasts(request) {
      const limit = Math.min(request.limit > 0 ? request.limit : LIST_DEFAULT, LIST_MAX);
      const page = await broadcasts.list(scopeOf(request), {
        limit,
        offset: Math.max(0, request.offset),
      });
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
        paceOf(broadcast),
        request.forecast
          ? forecastBroadcast({ ...deps, readPace, limits: deps.forecast_limits }, broadcast, call)
          : undefined,
      ]);
      return { ...detail(broadcast, countsOf(broadcast), now(), rate), forecast };
    },
    async cancelBroadcast(request) {
      const cancelled = await change(request, 'cancel');
      if (cancelled) await removeContactsOf(cancelled, deps);
      return {};
    },
    async pauseBroadcast(request) {
      await change(request, 'pause', { paused_at: now() });
      wake();
      return {};
    },
    async resumeBroadcast(request) {
      await change(request, 'resume', { paused_at: null });
      wake();
      return {};
    },
    async approveBroadcast(request) {
      await approveBroadcast(
        broadcasts,
        { scope: scopeOf(request), number: request.broadcast_id },
        { person_id: request.caller_person_id, at: now() },
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
    async findBroadcast(request) {
      const broadcast = await broadcasts.find(scopeOf(request), request.broadcast_id);
      if (!broadcast) throw notFound();
      return {
        request_id_prefix: requestIdPrefix(broadcast._id),
        started_at: broadcast.started_at ?? undefined,
      };
    },
    async getPace(request, call) {
      const target = needTarget(request.target);
      const { rate_per_sec, queued } = await readPace(
        target,
        await deps.credentials.of(target, call),
      );
      return { rate_per_sec, queued };
    },
    checkBroadcast: (request, call) => preflightBroadcast({ ...deps, readPace }, request, call),
  };
}
