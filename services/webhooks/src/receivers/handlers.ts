// The Endpoints RPCs: partners manage their webhook endpoints. Onboarding stores them; here their receivers
// are checked, and the figures of their deliveries added.
import { changedSettings } from '@bmg/common/destinations';
import { ApiError } from '@bmg/common/errors';
import { implementPart, ownCall, type Call, type Client } from '@bmg/common/rpc';
import { endSpan, startSpan } from '@bmg/common/telemetry';
import type { Destination } from '@bmg/proto/common';
import {
  EndpointsDefinition,
  type EndpointRegistryDefinition,
  type Endpoint,
  type EndpointHealth,
  type TestEndpointResponse,
} from '@bmg/proto/endpoints';
import { checkReceiver, testReceiver, type CheckDependencies } from './check-receiver';
import { createFirstTests, type NewEndpoint } from './first-tests';
import { withoutNulls } from '../ground/without-nulls';
import type { Deliveries } from '../delivery';
import type { ReceiverHealth } from './store';

export interface ReceiverDependencies extends CheckDependencies {
  registry: Client<EndpointRegistryDefinition>;
  health: ReceiverHealth;
  deliveries: Pick<Deliveries, 'countsOf' | 'makeDue' | 'removeOf'>;
  /** Makes every replica read the partner's stored deliveries again. */
  announce(partner_id: string): Promise<void>;
}

const DAY_MS = 86_400_000;
const FIRST_TEST_LIMIT_MS = 20_000;

/** The handlers, and the tests of new endpoints. Longer than 70 lines: one short method for each RPC. */
export const createReceiverHandlers = (deps: ReceiverDependencies) => {
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
  /** An untested endpoint that takes the event becomes active. */
  const testStored = async (
    { partner_id, endpoint_id, changelog }: NewEndpoint,
    call: Call,
  ): Promise<TestEndpointResponse> => {
    const stored = await findStored(partner_id, endpoint_id, call);
    if (!stored) throw noSuchEndpoint();
    const answer = await testReceiver(deps, { partner_id, changelog }, stored, call);
    // The directory has an untested one as disabled.
    if (answer.delivered && stored.status === 'disabled') {
      await registry.confirmTest({ partner_id, endpoint_id }, call);
    }
    return answer;
  };
  const first_tests = createFirstTests(async (endpoint) => {
    const span = startSpan('test a new endpoint');
    const call = ownCall(span.spanContext(), FIRST_TEST_LIMIT_MS);
    try {
      const { endpoints } = await registry.listEndpoints(endpoint, call);
      const found = endpoints.find(({ endpoint_id }) => endpoint_id === endpoint.endpoint_id);
      return !found?.untested || (await testStored(endpoint, call)).delivered;
    } finally {
      endSpan(span);
    }
  }, deps.log);
  const handlers = implementPart(EndpointsDefinition, {
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
        { ...chosen, dry_run: true, secret: own, untested: false },
        call,
      );
      const { secret } = draft;
      const drafted = filled(draft.endpoint);
      // Its receiver cannot verify a test event before it has the secret.
      const untested = !drafted.destination && own === undefined && drafted.status === 'active';
      if (!untested) {
        const checked = {
          ...drafted,
          secrets: [secret],
          headers: settings?.headers?.by_name ?? {},
          destination: changedDestination(settings?.destination, undefined),
        };
        await checkReceiver(deps, { partner_id, changelog }, checked, call);
      }
      const created = await registry.registerEndpoint(
        { ...chosen, dry_run: false, secret, untested },
        call,
      );
      const endpoint = filled(created.endpoint);
      const { endpoint_id } = endpoint;
      if (untested) first_tests.begin({ partner_id, endpoint_id, changelog });
      return { endpoint: await withHealth(partner_id, endpoint), secret: created.secret };
    },
    async updateEndpoint({ partner_id, endpoint_id, settings, changelog }, call) {
      const change = { partner_id, endpoint_id, settings };
      const before = await find(partner_id, endpoint_id, call);
      const after = await registry.changeEndpoint({ ...change, dry_run: true }, call);
      const is_new =
        after.url !== before.url || settings?.headers || settings?.format || settings?.destination;
      const is_enabled =
        (before.status === 'disabled' || before.untested) && settings?.status === 'active';
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
      let changed = await registry.changeEndpoint({ ...change, dry_run: false }, call);
      if (changed.untested && (is_new || is_enabled)) {
        changed = await registry.confirmTest({ partner_id, endpoint_id }, call);
      }
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
    testEndpoint: testStored,
    async listEndpointAttempts({ partner_id, endpoint_id }, call) {
      await find(partner_id, endpoint_id, call);
      const found = await health.find(endpoint_id);
      return {
        attempts: (found?.recent ?? []).reverse().map(withoutNulls),
      };
    },
  });
  return { handlers, first_tests };
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
  { health, deliveries }: ReceiverDependencies,
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
