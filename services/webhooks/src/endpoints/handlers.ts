// The Endpoints RPCs: partners manage their webhook endpoints. Onboarding stores them; here their receivers
// are checked, and the figures of their deliveries added.
import { changedSettings } from '@bmg/common/destinations';
import { ApiError } from '@bmg/common/errors';
import { implement, type Call } from '@bmg/common/rpc';
import type { Destination } from '@bmg/proto/common';
import { EndpointsDefinition, type Endpoint, type EndpointHealth } from '@bmg/proto/endpoints';
import { checkReceiver, testReceiver } from './check-receiver';
import { createShadowHandlers, type ShadowDependencies } from '../shadows/handlers';
import type { Deliveries } from '../store/deliveries';
import type { EndpointHealthStore } from '../store/endpoint-health';

export interface EndpointDependencies extends ShadowDependencies {
  health: EndpointHealthStore;
  deliveries: Pick<Deliveries, 'countsOf' | 'makeDue' | 'removeOf'>;
  /** Makes every replica read the partner's stored deliveries again. */
  announce(partner_id: string): Promise<void>;
}

const DAY_MS = 86_400_000;

/** Longer than 70 lines: one short method for each RPC. */
export const createEndpointHandlers = (deps: EndpointDependencies) => {
  const { registry, health, deliveries, announce } = deps;
  const withHealth = async (partner_id: string, endpoint: Endpoint): Promise<Endpoint> => ({
    ...endpoint,
    health: await healthOf(deps, partner_id, endpoint.endpoint_id),
  });
  const find = async (partner_id: string, endpoint_id: string, call: Call): Promise<Endpoint> => {
    const { endpoints } = await registry.listEndpoints({ partner_id }, call);
    const found = endpoints.find((one) => one.endpoint_id === endpoint_id);
    if (!found) throw noSuchEndpoint();
    return found;
  };
  /** With its secrets and headers, as deliveries use it; undefined if there is none. */
  const findStored = async (partner_id: string, endpoint_id: string, call: Call) => {
    const { endpoints } = await deps.receivers.of(partner_id, call.span, call.signal);
    return endpoints.find((one) => one.endpoint_id === endpoint_id);
  };
  return implement(EndpointsDefinition, {
    ...createShadowHandlers(deps),
    async listEndpoints({ partner_id }, call) {
      const { endpoints, endpoints_max } = await registry.listEndpoints({ partner_id }, call);
      return {
        endpoints: await Promise.all(endpoints.map((one) => withHealth(partner_id, one))),
        endpoints_max,
      };
    },
    getEndpoint: async ({ partner_id, endpoint_id }, call) =>
      withHealth(partner_id, await find(partner_id, endpoint_id, call)),
    async createEndpoint({ partner_id, settings, changelog, secret: own }, call) {
      const chosen = { partner_id, settings };
      const draft = await registry.registerEndpoint(
        { ...chosen, dry_run: true, secret: own },
        call,
      );
      const { endpoint, secret } = draft;
      const checked = {
        ...filled(endpoint),
        secrets: [secret],
        headers: settings?.headers?.by_name ?? {},
        destination: changedDestination(settings?.destination, undefined),
      };
      await checkReceiver(deps, { partner_id, changelog }, checked, call);
      const created = await registry.registerEndpoint({ ...chosen, dry_run: false, secret }, call);
      return {
        endpoint: await withHealth(partner_id, filled(created.endpoint)),
        secret: created.secret,
      };
    },
    async updateEndpoint({ partner_id, endpoint_id, settings, changelog }, call) {
      const change = { partner_id, endpoint_id, settings };
      const before = await find(partner_id, endpoint_id, call);
      const after = await registry.changeEndpoint({ ...change, dry_run: true }, call);
      const is_new =
        after.url !== before.url || settings?.headers || settings?.format || settings?.destination;
      const is_enabled = before.status === 'disabled' && after.status === 'active';
      if (is_new || is_enabled) {
        const stored = await findStored(partner_id, endpoint_id, call);
        const checked = {
          ...after,
          secrets: [stored?.secrets[0] ?? ''],
          headers: settings?.headers?.by_name ?? stored?.headers ?? {},
          destination: changedDestination(stored?.destination, settings?.destination),
        };
        await checkReceiver(deps, { partner_id, changelog }, checked, call);
      }
      const changed = await registry.changeEndpoint({ ...change, dry_run: false }, call);
      if (is_new || is_enabled) await health.forgive(endpoint_id);
      if (changed.status === 'active' && (is_new || before.status !== 'active')) {
        await deliveries.makeDue({ partner_id, endpoint_id }, new Date());
        await announce(partner_id);
      }
      return withHealth(partner_id, changed);
    },
    async deleteEndpoint(request, call) {
      await registry.deleteEndpoint(request, call);
      await deliveries.removeOf(request);
      await health.remove(request.endpoint_id);
      return {};
    },
    async rotateEndpointSecret(request, call) {
      const { endpoint, secret } = await registry.rotateEndpointSecret(request, call);
      return { endpoint: await withHealth(request.partner_id, filled(endpoint)), secret };
    },
    async testEndpoint({ partner_id, endpoint_id, changelog }, call) {
      const stored = await findStored(partner_id, endpoint_id, call);
      if (!stored) throw noSuchEndpoint();
      return testReceiver(deps, { partner_id, changelog }, stored, call);
    },
    async listEndpointAttempts({ partner_id, endpoint_id }, call) {
      await find(partner_id, endpoint_id, call);
      const found = await health.find(endpoint_id);
      return {
        attempts: (found?.recent ?? []).reverse().map(({ http_status, error, ...attempt }) => ({
          ...attempt,
          http_status: http_status ?? undefined,
          error: error ?? undefined,
        })),
      };
    },
  });
};

const noSuchEndpoint = () => new ApiError('NOT_FOUND', 'there is no such endpoint');

function filled(endpoint: Endpoint | undefined): Endpoint {
  if (!endpoint) throw new TypeError('the registry returned no endpoint');
  return endpoint;
}

/** The registry decides on a change; this has the credentials for the check. */
const changedDestination = (
  before: Destination | undefined,
  change: Destination | undefined,
): Destination | undefined =>
  before && {
    type: before.type,
    settings: changedSettings(before.settings ?? {}, change?.settings ?? {}),
  };

async function healthOf(
  { health, deliveries }: EndpointDependencies,
  partner_id: string,
  endpoint_id: string,
): Promise<EndpointHealth> {
  const [stored, counts, rows] = await Promise.all([
    health.find(endpoint_id),
    health.countSince(endpoint_id, new Date(Date.now() - DAY_MS)),
    deliveries.countsOf({ partner_id, endpoint_id }),
  ]);
  return {
    last_success_at: stored?.last_success_at,
    failing_since: stored?.failing_since,
    last_error: stored?.last_error ?? undefined,
    last_http_status: stored?.last_http_status ?? undefined,
    ...counts,
    ...rows,
  };
}
