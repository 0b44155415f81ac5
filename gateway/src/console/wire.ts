// Builds the console: its page, its API, and the live list of events.
import type { Logger } from '@bmg/common/telemetry';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import { PasskeysDefinition } from '@bmg/proto/people';
import { SettingsDefinition } from '@bmg/proto/settings';
import { EventLogDefinition, WebhooksDefinition } from '@bmg/proto/webhooks';
import type { Auth } from '../auth/wire';
import type { Clients, Config } from '../clients';
import type { ChainDependencies } from '../edge/chain';
import type { RefusalLog } from '../audit/refusal-log';
import type { Endpoint, Fields } from '../endpoints/endpoint';
import type { Limits } from '../limits/wire';
import { createEventStreams } from './event-streams';
import { consoleApi } from './index';
import { consoleSite } from './site';

interface Parts {
  rpc: Clients;
  auth: Auth;
  limits: Limits;
  chain: ChainDependencies;
  refused: RefusalLog;
  endpoints: Endpoint[];
  notices: Fields[];
  log: Logger;
}

export function wireConsole(config: Config, { rpc, auth, limits, log, ...parts }: Parts) {
  const { load, bucket, logins } = limits;
  const { CONSOLE_TEXTS: shows_texts } = config;
  const events = rpc.client(EventLogDefinition);
  const streams = createEventStreams({ events, load, shows_texts, log });
  const api = consoleApi({
    ...parts,
    streams,
    load,
    bucket,
    logins,
    look_ups: auth.look_ups,
    settings: rpc.client(SettingsDefinition),
    onboarding: rpc.client(OnboardingDefinition),
    passkeys: rpc.client(PasskeysDefinition),
    webhooks: rpc.client(WebhooksDefinition),
    payments: rpc.client(PaymentsDefinition),
    peppers: auth.peppers,
    renewal: auth.renewal,
    public_url: config.PUBLIC_URL,
    issuer_url: config.OIDC_ISSUER,
    shows_texts,
  });
  return { streams, pages: [api, consoleSite(config.PUBLIC_URL, log)] };
}
