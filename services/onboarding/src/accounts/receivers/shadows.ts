// RPC handlers for shadows: checks and stores the URL that gets copies of a receiver's events for a
// while, and seals its secret and headers. webhooks sends the events and compares the answers.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import type { EndpointRegistryDefinition, ShadowSettings } from '@bmg/proto/endpoints';
import { sealShadow } from './sealed';
import { chosenOrNewSecret, HOUR_MS } from '../../ground/webhook-secret';
import {
  bumpPartner,
  type Partner,
  partnerOf,
  SHADOW_SOURCES,
  type StoredShadow,
} from '../../ground/partners';
import { checkOneOf } from '../../ground/texts';
import { checkEndpointUrl, checkHeaders } from './rules';
import type { Dependencies } from '../../dependencies';

const HOURS_MAX = 72;
/** A trial is no load test, and its deliveries come beside those of the first receiver. */
const SHADOW_RATE_MAX = 100;

export function createShadowHandlers(deps: Dependencies) {
  const { partners, vault, now, log } = deps;
  return {
    async registerShadow({ partner_id, shadow_id, settings, dry_run, secret: chosen }) {
      const partner = await partnerOf(partners, partner_id);
      const { headers, hours, ...checked } = await checkShadow(deps, partner, settings);
      const created_at = now();
      refuseSecond(partner, created_at);
      const secret = chosenOrNewSecret(chosen);
      const ends_at = new Date(created_at.getTime() + hours * HOUR_MS);
      if (!dry_run) {
        const shadow: StoredShadow = {
          id: shadow_id,
          ...checked,
          sealed: sealShadow(vault, partner_id, shadow_id, { secret, headers }),
          created_at,
          ends_at,
        };
        const is_set = await partners.setShadow(partner_id, shadow, created_at);
        // Another one was started meanwhile.
        if (!is_set) throw isRunning();
        await bumpPartner(deps, partner_id);
        log.info({ partner_id, shadow_id, source: shadow.source }, 'started a shadow');
      }
      const header_names = Object.keys(headers);
      return { url: checked.url, header_names, secret, created_at, ends_at };
    },
    async removeShadow({ partner_id, shadow_id }) {
      await partners.removeShadow(partner_id, shadow_id);
      await bumpPartner(deps, partner_id);
      log.info({ partner_id, shadow_id }, 'ended a shadow');
      return {};
    },
  } satisfies Partial<Handlers<EndpointRegistryDefinition>>;
}

/** Throws MISSING_FIELDS or INVALID_FIELD, naming the field. */
async function checkShadow(
  deps: Dependencies,
  { _id: partner_id, webhook_url }: Partner,
  settings: ShadowSettings | undefined,
) {
  if (!settings?.url) throw missingFields(['url']);
  const { endpoint_id, hours, max_per_second } = settings;
  const url = checkEndpointUrl(deps, settings.url);
  const source = checkOneOf('source', settings.source, SHADOW_SOURCES);
  if (!(hours >= 1 && hours <= HOURS_MAX)) {
    throw invalidField('hours', `must be from 1 to ${HOURS_MAX}`);
  }
  if (!(max_per_second >= 1 && max_per_second <= SHADOW_RATE_MAX)) {
    throw invalidField('max_per_second', `must be from 1 to ${SHADOW_RATE_MAX}`);
  }
  const headers = checkHeaders(settings.headers?.by_name ?? {});
  if (endpoint_id === undefined && webhook_url === null) {
    throw missingFields(['endpoint_id'], 'no webhook_url is set: name one of your endpoints');
  }
  const first =
    endpoint_id === undefined
      ? { url: webhook_url }
      : await deps.webhookEndpoints.find(partner_id, endpoint_id);
  if (!first) throw invalidField('endpoint_id', 'is not one of your webhook endpoints');
  if (first.url === null) {
    throw invalidField('endpoint_id', 'names a destination: only the answers of URLs are compared');
  }
  if (first.url === url) throw invalidField('url', 'is the address that it is compared with');
  return { url, endpoint_id: endpoint_id ?? null, source, hours, max_per_second, headers };
}

function refuseSecond({ shadow }: Partner, at: Date): void {
  if (shadow && shadow.ends_at > at) {
    throw isRunning(shadow.id, (shadow.ends_at.getTime() - at.getTime()) / 1_000);
  }
}

const RETRY_AFTER_S = 60;

const isRunning = (shadow_id: string | null = null, retry_after_s = RETRY_AFTER_S): ApiError =>
  new ApiError('QUOTA_EXCEEDED', 'a shadow is running: stop it or wait until it has ended', {
    details: { shadow_id },
    retry_after_s,
  });
