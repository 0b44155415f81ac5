// RPC handlers of the registry of webhook endpoints: checks and stores what a partner chooses, and
// seals secrets and headers. Every change bumps the partner's directory version, so that it is in
// effect when it is answered. Shadows are in shadows.ts.
import { topics } from '@bmg/common/bus';
import { addressOf, DESTINATION_ID_PREFIX } from '@bmg/common/destinations';
import { invalidField, limitReached, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { ENDPOINT_DISABLED_EVENT, occurrence } from '@bmg/common/messages';
import type { Handlers } from '@bmg/common/rpc';
import { metrics } from '@bmg/common/telemetry';
import type { Vault } from '@bmg/common/vault';
import {
  Endpoint,
  type EndpointRegistryDefinition,
  type EndpointSettings,
} from '@bmg/proto/endpoints';
import { noSuch, orNotFound } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import { checkAccounts, checkLine, checkOneOf } from '../../ground/texts';
import {
  checkOverlap,
  chosenOrNewSecret,
  newWebhookSecret,
  rotate,
  rotatedSecrets,
} from '../../ground/webhook-secret';
import { bumpPartner, type Partner, partnerOf, type WebhookSecret } from '../../ground/partners';
import {
  ENDPOINT_FORMATS,
  endpointHeadersIdentity,
  endpointSecretIdentity,
  ENDPOINTS_MAX,
  type EndpointChange,
  type WebhookEndpoint,
} from './store';
import { changedDestination } from './destination';
import {
  checkEndpointUrl,
  checkEvents,
  checkHeaders,
  checkNumbers,
  checkReceiver,
  DESCRIPTION_MAX,
  MAX_PER_SECOND_MAX,
} from './rules';
import type { Dependencies } from '../../dependencies';
import { createShadowHandlers } from './shadows';

export function createReceiverHandlers(deps: Dependencies): Handlers<EndpointRegistryDefinition> {
  const { partners, webhookEndpoints: endpoints, now, log } = deps;
  return {
    async listEndpoints({ partner_id }) {
      await partnerOf(partners, partner_id);
      const list = await endpoints.list(partner_id);
      return {
        endpoints: list.map((one) => endpointMessage(one, now())),
        endpoints_max: ENDPOINTS_MAX,
      };
    },
    async registerEndpoint({ partner_id, settings, dry_run, secret: chosen, untested }) {
      const partner = await partnerOf(partners, partner_id);
      const { endpoint, secret } = newEndpoint(deps, partner, { settings, chosen, untested });
      const { _id: endpoint_id } = endpoint;
      const is_full = dry_run
        ? (await endpoints.list(partner_id)).length >= ENDPOINTS_MAX
        : !(await endpoints.insert(endpoint));
      if (is_full) throw tooMany();
      if (!dry_run) {
        await bumpPartner(deps, partner_id);
        log.info({ partner_id, endpoint_id }, 'created a webhook endpoint');
      }
      return { endpoint: endpointMessage(endpoint, now()), secret };
    },
    async changeEndpoint({ partner_id, endpoint_id, settings, dry_run }) {
      const partner = await partnerOf(partners, partner_id);
      const before = await endpointOf(deps, partner_id, endpoint_id);
      const change = changeOf(deps, partner, before, settings ?? {});
      if (Object.keys(change).length === 0) throw nothingToChange();
      if (change.status !== undefined) change.disabled_at = null;
      if (dry_run) return endpointMessage({ ...before, ...change }, now());
      const changed = await endpoints.change(partner_id, endpoint_id, change, now());
      const after = orNotFound(changed, 'endpoint');
      await bumpPartner(deps, partner_id);
      const fields = Object.keys(change);
      log.info({ partner_id, endpoint_id, fields }, 'changed a webhook endpoint');
      return endpointMessage(after, now());
    },
    async deleteEndpoint({ partner_id, endpoint_id }) {
      if (!(await endpoints.remove(partner_id, endpoint_id))) throw noSuch('endpoint');
      await bumpPartner(deps, partner_id);
      log.info({ partner_id, endpoint_id }, 'deleted a webhook endpoint');
      return {};
    },
    async rotateEndpointSecret({ partner_id, endpoint_id, overlap_hours }) {
      checkOverlap(overlap_hours);
      const { endpoint, secret } = await rotate('the secret of an endpoint', async () => {
        const before = await endpointOf(deps, partner_id, endpoint_id);
        if (before.destination) {
          throw invalidField('endpoint_id', 'names a destination: only a URL has a secret');
        }
        const plain = newWebhookSecret();
        const newest = sealSecret(deps, endpoint_id, plain);
        const secrets = rotatedSecrets(newest, before.secrets, overlap_hours, now());
        const changed = await endpoints.replaceSecrets(before, secrets, now());
        return changed ? { endpoint: changed, secret: plain } : undefined;
      });
      await bumpPartner(deps, partner_id);
      log.info({ partner_id, endpoint_id, overlap_hours }, 'rotated the secret of an endpoint');
      return { endpoint: endpointMessage(endpoint, now()), secret };
    },
    ...reportHandlers(deps),
    ...createShadowHandlers(deps),
  };
}

/** What deliveries report of an endpoint. */
const reportHandlers = (deps: Dependencies) => {
  const { bus, webhookEndpoints: endpoints, now, log } = deps;
  return {
    async disableEndpoint({ partner_id, endpoint_id, unless_changed_since }) {
      const since = unless_changed_since ?? now();
      const endpoint = await endpointOf(deps, partner_id, endpoint_id);
      if (endpoint.status !== 'active' || endpoint.updated_at > since) {
        return endpointMessage(endpoint, now());
      }
      // First, so that a crash loses no event: a repetition has the same ID.
      await bus.publish([disabledEvent(endpoint, now())]);
      const disabled = await endpoints.disable(partner_id, endpoint_id, since, now());
      if (disabled) {
        await bumpPartner(deps, partner_id);
        metrics.endpoints_disabled.inc();
        log.warn({ partner_id, endpoint_id }, 'disabled a failing webhook endpoint');
      }
      return endpointMessage(disabled ?? endpoint, now());
    },
    async confirmTest({ partner_id, endpoint_id }) {
      const tested = await endpoints.setTested(partner_id, endpoint_id, now());
      const endpoint = tested ?? (await endpointOf(deps, partner_id, endpoint_id));
      if (tested) {
        await bumpPartner(deps, partner_id);
        log.info({ partner_id, endpoint_id }, 'a new webhook endpoint took its test event');
      }
      return endpointMessage(endpoint, now());
    },
  } satisfies Partial<Handlers<EndpointRegistryDefinition>>;
};

interface Wanted {
  settings: EndpointSettings | undefined;
  /** The secret that the partner has chosen. */
  chosen: string | undefined;
  untested: boolean;
}

function newEndpoint(deps: Dependencies, partner: Partner, { settings, chosen, untested }: Wanted) {
  const created_at = deps.now();
  const prefix = settings?.destination ? DESTINATION_ID_PREFIX : 'whe';
  const _id = newId(prefix, created_at.getTime());
  const change = changeOf(deps, partner, { ...DEFAULTS, _id }, settings ?? {});
  if (change.destination && chosen) throw invalidField('secret', 'belongs to a URL');
  const secret = change.destination ? '' : chosenOrNewSecret(chosen);
  const endpoint: Omit<WebhookEndpoint, 'place'> = {
    ...DEFAULTS,
    ...change,
    ...(untested && { untested }),
    _id,
    partner_id: partner._id,
    secrets: secret === '' ? [] : [sealSecret(deps, _id, secret)],
    created_at,
    updated_at: created_at,
  };
  return { endpoint, secret };
}

const endpointOf = async (
  { webhookEndpoints }: Dependencies,
  partner_id: string,
  endpoint_id: string,
): Promise<WebhookEndpoint> =>
  orNotFound(await webhookEndpoints.find(partner_id, endpoint_id), 'endpoint');

function sealSecret(
  { vault, now }: Dependencies,
  endpoint_id: string,
  plain: string,
): WebhookSecret {
  const created_at = now();
  const sealed = vault.seal(endpointSecretIdentity(endpoint_id, created_at), plain);
  return { sealed, created_at, expires_at: null };
}

const DEFAULTS = {
  url: null,
  destination: null,
  description: '',
  events: [],
  waba_ids: [],
  phone_number_ids: [],
  headers: null,
  header_names: [],
  max_per_second: 0,
  status: 'active',
  disabled_at: null,
  ordered: true,
  format: 'envelope',
} as const satisfies EndpointChange;

/**
 * The checked fields to store. Throws INVALID_FIELD naming the field. Stored secrets are not sent
 * to another server, because a caller that may change an endpoint must not learn them:
 * MISSING_FIELDS names those that have to be given again.
 */
function changeOf(
  deps: Dependencies,
  { wabas }: Partner,
  before: Pick<WebhookEndpoint, '_id' | 'url' | 'destination' | 'headers'>,
  settings: Partial<EndpointSettings>,
): EndpointChange {
  checkReceiver(before, settings);
  const { _id: endpoint_id } = before;
  const { vault } = deps;
  const { destination, description, events, waba_ids, phone_number_ids, headers } = settings;
  const { max_per_second, status, ordered, format } = settings;
  const url = settings.url === undefined ? undefined : checkEndpointUrl(deps, settings.url);
  const changed = destination && changedDestination(deps, before, destination);
  const to_repeat = [
    ...(url !== undefined && !headers ? headersToRepeat(before, url) : []),
    ...(changed?.to_repeat ?? []),
  ];
  if (to_repeat.length > 0) {
    const names = to_repeat.join(', ');
    throw missingFields(to_repeat, `${names} must be given again for another server`);
  }
  return {
    ...(url !== undefined && { url }),
    ...(changed && { destination: changed.destination }),
    ...(description !== undefined && {
      description: checkLine('description', description, DESCRIPTION_MAX),
    }),
    ...(events && { events: checkEvents(events.items), extra_by_prefix: true }),
    ...(waba_ids && { waba_ids: checkAccounts(waba_ids.items, wabas) }),
    ...(phone_number_ids && { phone_number_ids: checkNumbers(phone_number_ids.items) }),
    ...(headers && sealHeaders(vault, endpoint_id, checkHeaders(headers.by_name))),
    ...(max_per_second !== undefined && { max_per_second: checkRate(max_per_second) }),
    ...(status !== undefined && { status: checkStatus(status) }),
    ...(ordered !== undefined && { ordered }),
    ...(format !== undefined && { format: checkOneOf('format', format, ENDPOINT_FORMATS) }),
  };
}

function checkRate(rate: number): number {
  if (rate >= 0 && rate <= MAX_PER_SECOND_MAX) return rate;
  throw invalidField('max_per_second', `must be from 0 to ${MAX_PER_SECOND_MAX}`);
}

function checkStatus(status: string): 'active' | 'paused' {
  if (status === 'active' || status === 'paused') return status;
  throw invalidField('status', 'must be active or paused');
}

const sealHeaders = (
  vault: Vault,
  endpoint_id: string,
  headers: Record<string, string>,
): Pick<WebhookEndpoint, 'headers' | 'header_names'> => {
  const header_names = Object.keys(headers);
  if (header_names.length === 0) return { headers: null, header_names };
  const sealed = vault.seal(endpointHeadersIdentity(endpoint_id), JSON.stringify(headers));
  return { headers: sealed, header_names };
};

/** Fan-out makes an event of it, which the partner's other receivers get. */
const disabledEvent = (
  { _id, partner_id, url, destination, updated_at }: WebhookEndpoint,
  at: Date,
) => ({
  topic: topics.alert,
  key: partner_id,
  message: {
    partner_id,
    occurrence: occurrence('endpoint_disabled', _id, String(updated_at.getTime())),
    timestamp: Math.floor(at.getTime() / 1_000),
    data: JSON.stringify({
      endpoint_id: _id,
      url: url === null ? null : new URL(url).origin,
      destination: destination
        ? { type: destination.type, address: addressOf(destination.type, destination.settings) }
        : null,
      reason: 'failing',
    }),
    event: ENDPOINT_DISABLED_EVENT,
  },
});

const headersToRepeat = (
  { url, headers }: Pick<WebhookEndpoint, 'url' | 'headers'>,
  to: string,
): string[] =>
  !headers || url === null || new URL(url).origin === new URL(to).origin ? [] : ['headers'];

const nothingToChange = () =>
  missingFields(['url'], 'one field of the endpoint is required, for example url');

const tooMany = () =>
  limitReached(
    ENDPOINTS_MAX,
    'webhook endpoints, the most that a partner may have: delete one first',
  );

function endpointMessage(endpoint: Omit<WebhookEndpoint, 'place'>, now: Date): Endpoint {
  const { _id: endpoint_id, status, untested } = endpoint;
  const expires_at = endpoint.secrets[1]?.expires_at;
  return messageOf(Endpoint, {
    ...endpoint,
    endpoint_id,
    untested,
    status: untested && status === 'active' ? 'untested' : status,
    previous_secret_expires_at: expires_at && expires_at > now ? expires_at : null,
  });
}
