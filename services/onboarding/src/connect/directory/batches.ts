// The batched look-ups of the directory: for each entry its answer, or the error that refuses it.
import { groupBy } from '@bmg/common/collections';
import { noSuchPartner, notRegistered, type Load } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { extraEventsOf } from '@bmg/common/messages';
import type { Vault } from '@bmg/common/vault';
import {
  GetCredentialResponse,
  ReceiverEndpoint,
  ReceiverShadow,
  type GetExtraEventsResponse,
  type GetReceiverResponse,
  type ResolveTargetRequest,
  type ResolveTargetResponse,
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
import { messageOf } from '../../ground/message';
import {
  webhookSecretIdentity,
  type Partner,
  type StoredShadow,
  type WebhookSecret,
} from '../../ground/partners';
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
  ): GetReceiverResponse => ({
    webhook_url: webhook_url ?? undefined,
    webhook_secrets: valid(webhook_secrets, now()).map(({ sealed, created_at }) =>
      vault.open(webhookSecretIdentity(_id, created_at), sealed),
    ),
    status,
    endpoints: endpoints.map((endpoint) => receiverEndpoint(vault, endpoint, now())),
    extra_events,
    shadow: shadow && shadow.ends_at > now() ? receiverShadow(vault, _id, shadow) : undefined,
  });
  const credentialOf = (client: Client): GetCredentialResponse =>
    messageOf(GetCredentialResponse, {
      ...client,
      access_token: vault.open(secretIdentity(client, 'token'), client.token),
      sending: sendingState(client),
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
    const filters = endpoints.map(({ events, extra_by_prefix = false }) => ({
      events,
      extra_by_prefix,
    }));
    const names = extraEventsOf(row.extra_events ?? [], filters);
    if (names.length > 0) wanted[partner_id] = { names };
  }
  return { wanted };
}

const receiverEndpoint = (vault: Vault, endpoint: WebhookEndpoint, now: Date): ReceiverEndpoint => {
  const { _id, destination, headers, untested, status, extra_by_prefix } = endpoint;
  return messageOf(ReceiverEndpoint, {
    ...endpoint,
    endpoint_id: _id,
    destination: destination && openDestination(vault, _id, destination),
    secrets: valid(endpoint.secrets, now).map(({ sealed, created_at }) =>
      vault.open(endpointSecretIdentity(_id, created_at), sealed),
    ),
    headers:
      headers &&
      (JSON.parse(vault.open(endpointHeadersIdentity(_id), headers)) as Record<string, string>),
    // Deliveries need not know why it gets no events.
    status: untested ? 'disabled' : status,
    extra_by_prefix,
  });
};

const valid = (secrets: WebhookSecret[], now: Date): WebhookSecret[] =>
  secrets.filter(({ expires_at }) => expires_at === null || expires_at > now);

const receiverShadow = (
  vault: Vault,
  partner_id: string,
  { id: shadow_id, sealed, ...shadow }: StoredShadow,
): ReceiverShadow =>
  messageOf(ReceiverShadow, {
    shadow_id,
    ...shadow,
    ...openShadow(vault, partner_id, shadow_id, sealed),
  });

const accountKey = ({ partner_id, waba_id }: Scope): string => `${partner_id}/${waba_id}`;

/** `active`, or why the number may not send: an unpaid slot before a paused number. */
const sendingState = ({ billing, health, withdrawn_at }: Client): string => {
  if (billing !== 'active') return billing;
  return health === 'paused' || withdrawn_at ? 'paused' : 'active';
};
