// One gRPC client for each service that the endpoints, pages and documents call.
import type { Loaded } from '@bmg/common/config';
import { createRpcClient, type Client, type Definition, type RpcClient } from '@bmg/common/rpc';
import { AuditDefinition } from '@bmg/proto/audit';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { EndpointsDefinition } from '@bmg/proto/endpoints';
import { KeysDefinition } from '@bmg/proto/keys';
import { LedgerDefinition } from '@bmg/proto/ledger';
import { MessagingDefinition, RatesDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import { SettingsDefinition } from '@bmg/proto/settings';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { EventLogDefinition, WebhooksDefinition } from '@bmg/proto/webhooks';
import type { settings } from './config';

export type Config = Loaded<typeof settings>['config'];
export type Clients = ReturnType<typeof createClients>;

const SERVED = {
  onboarding: [
    ...[OnboardingDefinition, SettingsDefinition, KeysDefinition, PeopleDefinition],
    ...[PasskeysDefinition, AuditDefinition, PaymentsDefinition],
  ],
  messaging: [MessagingDefinition, LedgerDefinition, RatesDefinition],
  templates: [TemplatesDefinition],
  broadcasts: [BroadcastsDefinition],
  'number-admin': [NumberAdminDefinition],
  webhooks: [WebhooksDefinition, EventLogDefinition, EndpointsDefinition],
};

export const serviceAddresses = (config: Config) => ({
  onboarding: config.ONBOARDING_ADDR,
  messaging: config.MESSAGING_ADDR,
  templates: config.TEMPLATES_ADDR,
  broadcasts: config.BROADCASTS_ADDR,
  'number-admin': config.NUMBER_ADMIN_ADDR,
  webhooks: config.WEBHOOKS_ADDR,
});

export function createClients(addresses: ReturnType<typeof serviceAddresses>) {
  const clients = new Map<Definition, RpcClient<Definition>>(
    Object.entries(SERVED).flatMap(([service, definitions]: [string, Definition[]]) =>
      definitions.map((definition) => [
        definition,
        createRpcClient(definition, addresses[service as keyof typeof SERVED]),
      ]),
    ),
  );
  return {
    components: [...clients.values()],
    client: <D extends Definition>(definition: D): Client<D> =>
      (clients.get(definition) as unknown as RpcClient<D>).rpc,
  };
}
