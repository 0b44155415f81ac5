// Builds the hosted sign-up page.
import type { Logger } from '@bmg/common/telemetry';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { Auth } from '../auth/wire';
import type { Clients, Config } from '../clients';
import type { Limits } from '../limits/wire';
import { connectPage } from './index';

interface Parts {
  rpc: Clients;
  auth: Auth;
  limits: Limits;
  log: Logger;
}

export const wireConnectPage = (config: Config, { rpc, auth, limits, log }: Parts) =>
  connectPage({
    ...auth,
    onboarding: rpc.client(OnboardingDefinition),
    visits: limits.visits,
    sdk_url: config.UPSTREAM_SDK_URL,
    log,
  });
