// Reads once a day from the upstream when each client's token expires, and publishes how many
// expire soon, so that an operator can warn the partner in time. Most tokens never expire.
import { ApiError } from '@bmg/common/errors';
import type { Versions } from '@bmg/common/directory';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, metrics, startSpan, type Logger } from '@bmg/common/telemetry';
import type { Upstream } from '@bmg/common/upstream';
import { type App, inspectToken } from '../upstream';
import type { ClientTokens } from './store';
import { eachClaimed } from '../../ground/each-claimed';
import { secretIdentity, versionKeys, type Client } from '../../ground/clients';
import type { Vault } from '@bmg/common/vault';

interface TokenExpiryDependencies {
  clientTokens: ClientTokens;
  vault: Pick<Vault, 'open'>;
  upstream: Upstream;
  versions: Versions;
  /** Throws if no app is configured: tokens cannot be inspected then. */
  app(): App;
  now(): Date;
  log: Logger;
}

const POLL_EVERY_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INSPECT_LIMIT_MS = 10_000;
/** Clients per run; if more are due, the next run follows at once. */
const RUN_MAX = 20;
export const SOON_MS = 14 * DAY_MS;

export function createTokenExpiryPoller(deps: TokenExpiryDependencies): Poller {
  return createPoller('token expiry', POLL_EVERY_MS, () => inspectDue(deps), deps.log);
}

/** One run. Returns true when more may be due. */
export async function inspectDue(deps: TokenExpiryDependencies): Promise<boolean> {
  const { clientTokens, now } = deps;
  const app = appOf(deps);
  if (!app) return false;
  const claim = (): Promise<Client | null> =>
    clientTokens.claim(new Date(now().getTime() - DAY_MS), now());
  const more = await eachClaimed(RUN_MAX, claim, (client) => inspect(deps, app, client));
  metrics.tokens_expiring.set(await clientTokens.countUntil(new Date(now().getTime() + SOON_MS)));
  return more;
}

function appOf({ app }: TokenExpiryDependencies): App | undefined {
  try {
    return app();
  } catch {
    return undefined;
  }
}

async function inspect(deps: TokenExpiryDependencies, app: App, client: Client): Promise<void> {
  const { clientTokens, vault, upstream, versions, now, log } = deps;
  const { partner_id, waba_id, phone_number_id } = client;
  const span = startSpan('inspect token');
  const call = ownCall(span.spanContext(), INSPECT_LIMIT_MS);
  try {
    const token = vault.open(secretIdentity(client, 'token'), client.token);
    const { expires_at } = await inspectToken(upstream, app, token, call);
    const token_expires_at = timeOf(expires_at);
    await clientTokens.change(client, { token_expires_at });
    if (token_expires_at && token_expires_at.getTime() < now().getTime() + SOON_MS) {
      log.warn({ partner_id, waba_id, phone_number_id, token_expires_at }, 'token expires soon');
    }
    endSpan(span);
  } catch (error) {
    endSpan(span, { code: 'token' });
    // A refused token has expired. Any other failure is retried in an hour instead of a day.
    if (error instanceof ApiError && error.code === 'DISCOVERY_FAILED') {
      if (!(await clientTokens.change(client, { token_expires_at: now() }))) return;
      // Another partner may have onboarded the number: the receivers of its events have changed.
      await versions.bump(versionKeys([client]));
      log.warn({ partner_id, waba_id, phone_number_id }, 'token is no longer valid');
      return;
    }
    await clientTokens.change(client, {
      token_checked_at: new Date(now().getTime() - DAY_MS + HOUR_MS),
    });
    log.info({ err: error, partner_id, waba_id }, 'failed to inspect token');
  }
}

/** From epoch seconds; 0 stands for never. */
const timeOf = (seconds: unknown): Date | null =>
  typeof seconds === 'number' && seconds > 0 ? new Date(seconds * 1_000) : null;
