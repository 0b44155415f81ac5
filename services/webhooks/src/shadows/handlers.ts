// The RPCs for shadows: a partner compares one of its receivers with a second URL. Onboarding
// stores the URL and decides which shadow runs; here it is tested, sent its events, and compared.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import type { Poller } from '@bmg/common/lifecycle';
import type { Call, Client, Handlers } from '@bmg/common/rpc';
import type {
  EndpointRegistryDefinition,
  EndpointsDefinition,
  RegisterShadowResponse,
  Shadow,
  ShadowDifference,
  ShadowSettings,
} from '@bmg/proto/endpoints';
import { quantileOf, type Compared } from './answers';
import { endShadow } from './last-day';
import { formatOf } from './post';
import { withoutNulls } from '../ground/without-nulls';
import { maskUrl } from '../delivery';
import { type CheckDependencies, checkReceiver } from '../receivers';
import type { Reader } from '../event-log';
import { SHADOW_KEPT_MS, type Shadows, type ShadowStatus, type StoredShadow } from './store';

export interface ShadowDependencies extends CheckDependencies {
  registry: Client<EndpointRegistryDefinition>;
  shadows: Shadows;
  reader: Pick<Reader, 'range'>;
  lastDay: Pick<Poller, 'wake'>;
}

type ShadowHandlers = Pick<
  Handlers<EndpointsDefinition>,
  'startShadow' | 'listShadows' | 'getShadow' | 'stopShadow'
>;

const DAY_MS = 86_400_000;
/** Longer than a start takes: no replica works on a shadow before onboarding has it. */
const START_LIMIT_MS = 60_000;

export function createShadowHandlers(deps: ShadowDependencies): ShadowHandlers {
  const { registry, shadows, receivers, lastDay } = deps;
  const receiverOf = (partner_id: string, call: Call) =>
    receivers.of(partner_id, call.span, call.signal);
  /** Shows the status that it has now. */
  const shown = async (shadow: StoredShadow, call: Call): Promise<Shadow> => {
    const { shadow: current } = await receiverOf(shadow.partner_id, call);
    return shadowMessage(shadow, current?.shadow_id);
  };
  const find = async (partner_id: string, shadow_id: string): Promise<StoredShadow> => {
    const found = await shadows.find(partner_id, shadow_id);
    if (!found) throw new ApiError('NOT_FOUND', 'there is no such shadow');
    return found;
  };
  return {
    async startShadow({ partner_id, settings, changelog, secret: own }, call) {
      const shadow_id = newId('shd');
      const chosen = { partner_id, shadow_id, settings };
      const draft = await registry.registerShadow({ ...chosen, dry_run: true, secret: own }, call);
      const given = settings as ShadowSettings;
      const { secret } = draft;
      const tested = {
        url: draft.url,
        secrets: [secret],
        headers: given.headers?.by_name ?? {},
        format: formatOf(await receiverOf(partner_id, call), given.endpoint_id),
      };
      await checkReceiver(deps, { partner_id, changelog }, tested, call);
      const shadow = await newShadow(deps, given, { _id: shadow_id, partner_id }, draft);
      // Stored first, so that each shadow that runs has a comparison.
      await shadows.insert(shadow);
      try {
        await registry.registerShadow({ ...chosen, dry_run: false, secret }, call);
      } catch (error) {
        // Any other failure may have come after it was registered.
        if ((error as ApiError).code === 'QUOTA_EXCEEDED') await shadows.remove(shadow_id);
        throw error;
      }
      if (shadow.source === 'last_day') {
        await shadows.release(shadow_id);
        lastDay.wake();
      }
      return { shadow: shadowMessage(shadow, shadow_id), secret };
    },
    async listShadows({ partner_id }, call) {
      const { shadow: current } = await receiverOf(partner_id, call);
      const found = await shadows.list(partner_id);
      return { shadows: found.map((one) => shadowMessage(one, current?.shadow_id)) };
    },
    getShadow: async ({ partner_id, shadow_id }, call) =>
      shown(await find(partner_id, shadow_id), call),
    async stopShadow({ partner_id, shadow_id }, call) {
      const shadow = await find(partner_id, shadow_id);
      if (statusOf(shadow, shadow_id) === 'running') {
        await endShadow(deps, shadow, 'stopped', call);
      }
      return shown(await find(partner_id, shadow_id), call);
    },
  };
}

async function newShadow(
  { reader }: ShadowDependencies,
  settings: ShadowSettings,
  ids: { _id: string; partner_id: string },
  { url, header_names, created_at, ends_at }: RegisterShadowResponse,
): Promise<StoredShadow> {
  const { endpoint_id = null, source, max_per_second } = settings;
  const to = new Date();
  const { first, last } =
    source === 'last_day'
      ? await reader.range(ids.partner_id, {
          after: undefined,
          from: new Date(to.getTime() - DAY_MS),
          to,
        })
      : { first: 1, last: 0 };
  const until = ends_at as Date;
  return {
    ...ids,
    ...{ endpoint_id, source, max_per_second, header_names },
    url: maskUrl(url),
    status: 'running',
    created_at: created_at as Date,
    ends_at: until,
    ended_at: null,
    last,
    position: first - 1,
    ahead: [],
    owner: '',
    leased_until: source === 'last_day' ? new Date(Date.now() + START_LIMIT_MS) : until,
    ...{ compared: 0, different: 0, dropped: 0 },
    ...{ answers: {}, first_ms: {}, shadow_ms: {}, differences: [], added: [] },
    expires_at: new Date(until.getTime() + SHADOW_KEPT_MS),
  };
}

/** Onboarding's running shadow, `current`, decides until the end is stored here. */
function statusOf(
  { _id, status, source, ends_at, position, last }: StoredShadow,
  current: string | undefined,
): ShadowStatus {
  if (status !== 'running') return status;
  if (Date.now() >= ends_at.getTime()) return source === 'live' ? 'completed' : 'expired';
  if (current === _id) return 'running';
  return source === 'last_day' && position >= last ? 'completed' : 'stopped';
}

function shadowMessage(shadow: StoredShadow, current: string | undefined): Shadow {
  const { _id, compared, different, dropped, answers, differences = [], ...rest } = shadow;
  return {
    ...withoutNulls(rest),
    shadow_id: _id,
    status: statusOf(shadow, current),
    comparison: {
      compared,
      different,
      dropped,
      answers: Object.entries(answers)
        .map(([pair, events]) => {
          const [first = '', of_shadow = ''] = pair.split('/');
          return { first, shadow: of_shadow, events };
        })
        .sort((one, other) => other.events - one.events),
      first: timesOf(rest.first_ms),
      shadow: timesOf(rest.shadow_ms),
      differences: differences.map(differenceMessage).reverse(),
    },
  };
}

const timesOf = (counts: Record<string, number>) => ({
  p50_ms: quantileOf(counts, 0.5),
  p99_ms: quantileOf(counts, 0.99),
});

const differenceMessage = ({ first, shadow, ...of }: Compared): ShadowDifference => ({
  ...of,
  first: withoutNulls(first),
  shadow: withoutNulls(shadow),
});
