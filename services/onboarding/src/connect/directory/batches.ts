// The batched look-ups of the directory: for each entry its answer, or the error that refuses it.
import { groupBy } from '@bmg/common/collections';
import { noSuchPartner, notRegistered, type Load } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { extraEventsOf } from '@bmg/common/messages';
import type { Vault } from '@bmg/common/vault';
import type {
  GetCredentialResponse,
  GetExtraEventsResponse,
  GetReceiverResponse,
  ReceiverEndpoint,
  ReceiverShadow,
  ResolveTargetRequest,
  ResolveTargetResponse,
} from '@bmg/proto/onboarding';
import {
  openShadow,
  endpointHeadersIdentity,
  endpointSecretIdentity,
  openDestination,
  type WebhookEndpoint,
} from '../../accounts/receivers';
import {
  clientId,
  secretIdentity,
  type Client,
  type NumberScope,
  type Scope,
} from '../../ground/clients';
import { webhookSecretIdentity, type Partner, type StoredShadow } from '../../ground/partners';
import { chooseNumber } from './rules';
import type { Dependencies } from '../../dependencies';

interface Batches {
  targets: Load<ResolveTargetRequest, ResolveTargetResponse>;
  credentials: Load<NumberScope, GetCredentialResponse>;
  /** Takes IDs of partners. */
  receivers: Load<string, GetReceiverResponse>;
}

export function createBatches(deps: Dependencies): Batches {
  const { clients, vault, now } = deps;
  const receiverOf = (
    { _id, webhook_url, webhook_secrets, status, shadow, extra_events = [] }: Partner,
    endpoints: WebhookEndpoint[],
  ): GetReceiverResponse => {
    const valid = webhook_secrets.filter(
      ({ expires_at }) => expires_at === null || expires_at > now(),
    );
    return {
      webhook_url: webhook_url ?? undefined,
      webhook_secrets: valid.map(({ sealed, created_at }) =>
        vault.open(webhookSecretIdentity(_id, created_at), sealed),
      ),
      status,
      endpoints: endpoints.map((endpoint) => receiverEndpoint(vault, endpoint, now())),
      extra_events,
      shadow: shadow && shadow.ends_at > now() ? receiverShadow(vault, _id, shadow) : undefined,
    };
  };
  const credentialOf = (client: Client): GetCredentialResponse => ({
    access_token: vault.open(secretIdentity(client, 'token'), client.token),
    sending: sendingState(client),
    payment_url: client.payment_url ?? undefined,
    phone_number: client.phone_number,
    is_on_biz_app: client.is_on_biz_app,
    throughput_level: client.throughput_level ?? undefined,
    business_id: client.business_id ?? undefined,
    messaging_limit_tier: client.messaging_limit_tier ?? undefined,
    registered_at: client.registered_at,
  });
  const activeOfAll = async (accounts: Scope[]): Promise<Client[]> => {
    const together = await clients.activeOfAll(accounts);
    return together ?? (await Promise.all(accounts.map(clients.activeOf))).flat();
  };
  return {
    async targets(targets) {
      const accounts = new Map(targets.map((target) => [accountKey(target), target]));
      const active = groupBy(await activeOfAll([...accounts.values()]), accountKey);
      return targets.map((target) => {
        try {
          const rows = active.get(accountKey(target)) ?? [];
          const { phone_number_id } = chooseNumber(rows, target.phone_number_id);
          return { phone_number_id };
        } catch (error) {
          if (error instanceof ApiError) return error;
          throw error;
        }
      });
    },
    async credentials(scopes) {
      const rows = new Map((await clients.findAll(scopes)).map((row) => [row._id, row]));
      return scopes.map((scope) => {
        const client = rows.get(clientId(scope));
        return client?.status === 'active' ? credentialOf(client) : notRegistered();
      });
    },
    async receivers(partner_ids) {
      const found = await receiversOf(deps, partner_ids);
      return partner_ids.map((partner_id) => {
        const one = found.get(partner_id);
        return one ? receiverOf(one.row, one.endpoints) : noSuchPartner();
      });
    },
  };
}

/** The partners with their endpoints, by partner ID. */
async function receiversOf(
  { partners, webhookEndpoints }: Dependencies,
  partner_ids: string[],
): Promise<Map<string, { row: Partner; endpoints: WebhookEndpoint[] }>> {
  const [found, endpoints] = await Promise.all([
    partners.findAll(partner_ids),
    webhookEndpoints.ofAll(partner_ids),
  ]);
  const endpointsOf = groupBy(endpoints, (endpoint) => endpoint.partner_id);
  return new Map(found.map((row) => [row._id, { row, endpoints: endpointsOf.get(row._id) ?? [] }]));
}

/** The extra events that the receivers of these partners get, by partner ID. */
export async function extraEventsOfAll(
  deps: Dependencies,
  partner_ids: string[],
): Promise<GetExtraEventsResponse> {
  const wanted: GetExtraEventsResponse['wanted'] = {};
  for (const [partner_id, { row, endpoints }] of await receiversOf(deps, partner_ids)) {
    const names = extraEventsOf(row.extra_events ?? [], endpoints.map(filterOf));
    if (names.length > 0) wanted[partner_id] = { names };
  }
  return { wanted };
}

const filterOf = ({
  events,
  extra_by_prefix = false,
}: Pick<WebhookEndpoint, 'events' | 'extra_by_prefix'>) => ({ events, extra_by_prefix });

const receiverEndpoint = (
  vault: Vault,
  { _id, url, destination, secrets, headers, ...endpoint }: WebhookEndpoint,
  now: Date,
): ReceiverEndpoint => ({
  endpoint_id: _id,
  url: url ?? '',
  destination: destination ? openDestination(vault, _id, destination) : undefined,
  secrets: secrets
    .filter(({ expires_at }) => expires_at === null || expires_at > now)
    .map(({ sealed, created_at }) => vault.open(endpointSecretIdentity(_id, created_at), sealed)),
  headers: headers
    ? (JSON.parse(vault.open(endpointHeadersIdentity(_id), headers)) as Record<string, string>)
    : {},
  // Deliveries need not know why it gets no events.
  status: endpoint.untested ? 'disabled' : endpoint.status,
  ...filterOf(endpoint),
  waba_ids: endpoint.waba_ids,
  phone_number_ids: endpoint.phone_number_ids,
  max_per_second: endpoint.max_per_second,
  ordered: endpoint.ordered,
  format: endpoint.format,
});

const receiverShadow = (
  vault: Vault,
  partner_id: string,
  { id: shadow_id, endpoint_id, sealed, ...shadow }: StoredShadow,
): ReceiverShadow => ({
  shadow_id,
  url: shadow.url,
  endpoint_id: endpoint_id ?? undefined,
  source: shadow.source,
  max_per_second: shadow.max_per_second,
  ends_at: shadow.ends_at,
  ...openShadow(vault, partner_id, shadow_id, sealed),
});

const accountKey = ({ partner_id, waba_id }: Scope): string => `${partner_id}/${waba_id}`;

/** `active`, or why the number may not send: an unpaid slot before a paused number. */
const sendingState = ({ billing, health, withdrawn_at }: Client): string => {
  if (billing !== 'active') return billing;
  return health === 'paused' || withdrawn_at ? 'paused' : 'active';
};
