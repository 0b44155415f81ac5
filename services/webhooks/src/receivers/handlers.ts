// The Endpoints RPCs: partners manage their webhook endpoints. Onboarding stores them; here their
// receivers are checked, and the figures of their deliveries added.
import { changedSettings } from '@bmg/common/destinations';
import { ApiError } from '@bmg/common/errors';
import { implementPart, ownCall, type Call, type Client } from '@bmg/common/rpc';
import { endSpan, startSpan } from '@bmg/common/telemetry';
import type { Destination } from '@bmg/proto/common';
import {
  EndpointsDefinition,
  type CreateEndpointRequest,
  type EndpointWithSecret,
  type EndpointRegistryDefinition,
  type Endpoint,
  type TestEndpointResponse,
  type UpdateEndpointRequest,
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

/** The handlers, and the tests of new endpoints. */
export function createReceiverHandlers(deps: ReceiverDependencies) {
  const { registry, health, deliveries } = deps;
  const first_tests = createFirstTests((endpoint) => testNew(deps, endpoint), deps.log);
  const handlers = implementPart(EndpointsDefinition, {
    async listEndpoints({ partner_id }, call) {
      const { endpoints, endpoints_max } = await registry.listEndpoints({ partner_id }, call);
      return {
        endpoints: await Promise.all(endpoints.map((one) => withHealth(deps, partner_id, one))),
        endpoints_max,
      };
    },
    getEndpoint: async (request, call) =>
      withHealth(deps, request.partner_id, await find(deps, request, call)),
    async createEndpoint(request, call) {
      const { untested, ...created } = await create(deps, request, call);
      const { partner_id, changelog } = request;
      const { endpoint_id } = created.endpoint;
      if (untested) first_tests.begin({ partner_id, endpoint_id, changelog });
      return { ...created, endpoint: await withHealth(deps, partner_id, created.endpoint) };
    },
    updateEndpoint: async (request, call) =>
      withHealth(deps, request.partner_id, await update(deps, request, call)),
    async deleteEndpoint(request, call) {
      await registry.deleteEndpoint(request, call);
      await deliveries.removeOf(request);
      await health.remove(request.endpoint_id);
      return {};
    },
    async rotateEndpointSecret(request, call) {
      const { endpoint, secret } = await registry.rotateEndpointSecret(request, call);
      return { endpoint: await withHealth(deps, request.partner_id, filled(endpoint)), secret };
    },
    testEndpoint: (request, call) => testStored(deps, request, call),
    async listEndpointAttempts(request, call) {
      await find(deps, request, call);
      const found = await health.find(request.endpoint_id);
      return { attempts: (found?.recent ?? []).reverse().map(withoutNulls) };
    },
  });
  return { handlers, first_tests };
}

type Named = Pick<NewEndpoint, 'partner_id' | 'endpoint_id'>;

async function find(
  { registry }: ReceiverDependencies,
  { partner_id, endpoint_id }: Named,
  call: Call,
): Promise<Endpoint> {
  const { endpoints } = await registry.listEndpoints({ partner_id }, call);
  const found = endpoints.find((one) => one.endpoint_id === endpoint_id);
  if (!found) throw noSuchEndpoint();
  return found;
}

/** Finds it as deliveries use it, with its secrets and headers. */
async function findStored(
  { receivers }: ReceiverDependencies,
  { partner_id, endpoint_id }: Named,
  call: Call,
) {
  const { endpoints } = await receivers.of(partner_id, call.span, call.signal);
  return endpoints.find((one) => one.endpoint_id === endpoint_id);
}

/** `untested` is true if the receiver cannot verify a test event before it has the secret. */
async function create(
  deps: ReceiverDependencies,
  { partner_id, settings, changelog, secret: own }: CreateEndpointRequest,
  call: Call,
): Promise<EndpointWithSecret & { endpoint: Endpoint; untested: boolean }> {
  const register = (dry_run: boolean, untested: boolean, secret: string | undefined) =>
    deps.registry.registerEndpoint({ partner_id, settings, dry_run, secret, untested }, call);
  const draft = await register(true, false, own);
  const { secret } = draft;
  const drafted = filled(draft.endpoint);
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
  const created = await register(false, untested, secret);
  return { endpoint: filled(created.endpoint), secret: created.secret, untested };
}

async function update(
  deps: ReceiverDependencies,
  { partner_id, endpoint_id, settings, changelog }: UpdateEndpointRequest,
  call: Call,
): Promise<Endpoint> {
  const { registry, health, deliveries, announce } = deps;
  const named = { partner_id, endpoint_id };
  const change = { ...named, settings };
  const before = await find(deps, named, call);
  const after = await registry.changeEndpoint({ ...change, dry_run: true }, call);
  const is_new =
    after.url !== before.url || settings?.headers || settings?.format || settings?.destination;
  const is_enabled =
    (before.status === 'disabled' || before.untested) && settings?.status === 'active';
  if (is_new || is_enabled) {
    const stored = await findStored(deps, named, call);
    const checked = {
      ...after,
      secrets: [stored?.secrets[0] ?? ''],
      headers: settings?.headers?.by_name ?? stored?.headers ?? {},
      destination: changedDestination(stored?.destination, settings?.destination),
    };
    await checkReceiver(deps, { partner_id, changelog }, checked, call);
  }
  let changed = await registry.changeEndpoint({ ...change, dry_run: false }, call);
  if (is_new || is_enabled) {
    if (changed.untested) changed = await registry.confirmTest(named, call);
    await health.forgive(endpoint_id);
  }
  if (changed.status === 'active' && (is_new || before.status !== 'active')) {
    await deliveries.makeDue(named, new Date());
    await announce(partner_id);
  }
  return changed;
}

/** An untested endpoint that takes the event becomes active. */
async function testStored(
  deps: ReceiverDependencies,
  { partner_id, endpoint_id, changelog }: NewEndpoint,
  call: Call,
): Promise<TestEndpointResponse> {
  const named = { partner_id, endpoint_id };
  const stored = await findStored(deps, named, call);
  if (!stored) throw noSuchEndpoint();
  const answer = await testReceiver(deps, { partner_id, changelog }, stored, call);
  // The directory has an untested one as disabled.
  if (answer.delivered && stored.status === 'disabled') {
    await deps.registry.confirmTest(named, call);
  }
  return answer;
}

/** True once the endpoint needs no further test. */
async function testNew(deps: ReceiverDependencies, endpoint: NewEndpoint): Promise<boolean> {
  const span = startSpan('test a new endpoint');
  const call = ownCall(span.spanContext(), FIRST_TEST_LIMIT_MS);
  try {
    const { endpoints } = await deps.registry.listEndpoints(endpoint, call);
    const found = endpoints.find(({ endpoint_id }) => endpoint_id === endpoint.endpoint_id);
    return !found?.untested || (await testStored(deps, endpoint, call)).delivered;
  } finally {
    endSpan(span);
  }
}

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

async function withHealth(
  { health, deliveries }: ReceiverDependencies,
  partner_id: string,
  endpoint: Endpoint,
): Promise<Endpoint> {
  const { endpoint_id } = endpoint;
  const [stored, counts, rows] = await Promise.all([
    health.find(endpoint_id),
    health.countSince(endpoint_id, new Date(Date.now() - DAY_MS)),
    deliveries.countsOf({ partner_id, endpoint_id }),
  ]);
  return {
    ...endpoint,
    health: {
      last_success_at: stored?.last_success_at,
      failing_since: stored?.failing_since,
      last_error: stored?.last_error ?? undefined,
      last_http_status: stored?.last_http_status ?? undefined,
      ...counts,
      ...rows,
    },
  };
}
