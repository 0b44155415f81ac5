// The webhook endpoints of partners beside their webhook URL: filter, secrets and headers of each.
import type { Collection, Db, Filter } from 'mongodb';
import type { DestinationType } from '@bmg/common/destinations';
import type { Indexes } from '@bmg/common/mongo';
import { changeOne, insertInPlace } from '../../ground/insert';
import type { Sealed } from '@bmg/common/vault';
import type { WebhookSecret } from '../../ground/partners';

export const ENDPOINT_FORMATS = [
  'envelope',
  'cloudevents-structured',
  'cloudevents-binary',
] as const;
export type EndpointFormat = (typeof ENDPOINT_FORMATS)[number];
/** disabled: by us, after days of failure. */
type EndpointStatus = 'active' | 'paused' | 'disabled';

/** A partner's topic, queue or bucket. */
export interface StoredDestination {
  type: DestinationType;
  /** Contains no credentials. */
  settings: object;
  /** A JSON object, sealed; null without credentials. */
  credentials: Sealed | null;
}

export interface WebhookEndpoint {
  _id: string;
  partner_id: string;
  /** From 0, unique among the partner's endpoints: the unique index bounds how many there are. */
  place: number;
  /** Null for a destination. */
  url: string | null;
  /** Null or absent for a URL. */
  destination?: StoredDestination | null;
  description: string;
  /** Names, or prefixes such as `message.*`. Empty: all but the extra events. */
  events: string[];
  /** True once `events` was written since there are extra events: its prefixes match them then. */
  extra_by_prefix?: boolean;
  /** Empty: all. */
  waba_ids: string[];
  phone_number_ids: string[];
  /** A JSON object, sealed; null without headers. */
  headers: Sealed | null;
  header_names: string[];
  /** The newest first; none for a destination. */
  secrets: WebhookSecret[];
  /** 0: no limit. */
  max_per_second: number;
  status: EndpointStatus;
  /** It gets no events until it takes a test event. */
  untested?: true;
  disabled_at: Date | null;
  ordered: boolean;
  format: EndpointFormat;
  created_at: Date;
  updated_at: Date;
}

export type EndpointChange = Partial<
  Omit<WebhookEndpoint, '_id' | 'partner_id' | 'place' | 'secrets' | 'created_at' | 'updated_at'>
>;

/** Bounds the endpoints of one partner. */
export const ENDPOINTS_MAX = 10;

export const WEBHOOK_ENDPOINTS = 'webhook_endpoints';
export const webhookEndpointIndexes: Indexes = {
  [WEBHOOK_ENDPOINTS]: [{ key: { partner_id: 1, place: 1 }, unique: true }],
};

/** The identities under which an endpoint's secrets, headers and credentials are sealed. */
export const endpointSecretIdentity = (endpoint_id: string, created_at: Date): string =>
  `webhook_endpoint/${endpoint_id}/secret/${created_at.getTime()}`;
export const endpointHeadersIdentity = (endpoint_id: string): string =>
  `webhook_endpoint/${endpoint_id}/headers`;
export const endpointDestinationIdentity = (endpoint_id: string): string =>
  `webhook_endpoint/${endpoint_id}/destination`;

export function createWebhookEndpoints(db: Db) {
  const endpoints: Collection<WebhookEndpoint> = db.collection(WEBHOOK_ENDPOINTS);
  return {
    /** False if the partner has ENDPOINTS_MAX endpoints already. */
    insert: (endpoint: Omit<WebhookEndpoint, 'place'>) =>
      insertInPlace(endpoints, endpoint, { max: ENDPOINTS_MAX, what: 'an endpoint' }),
    /** The oldest first. */
    list: (partner_id: string) =>
      endpoints.find({ partner_id }).sort({ _id: 1 }).limit(ENDPOINTS_MAX).toArray(),
    /** The endpoints of these partners. */
    ofAll: (partner_ids: string[]) =>
      endpoints
        .find({ partner_id: { $in: partner_ids } }, { limit: partner_ids.length * ENDPOINTS_MAX })
        .toArray(),
    find: (partner_id: string, _id: string) => endpoints.findOne({ _id, partner_id }),
    change: (partner_id: string, _id: string, change: EndpointChange, updated_at: Date) =>
      changeOne(endpoints, { _id, partner_id }, { $set: { ...change, updated_at } }),
    /** Null if the endpoint is disabled already or was changed after `unless_changed_since`. */
    disable: (partner_id: string, _id: string, unless_changed_since: Date, at: Date) =>
      changeOne(
        endpoints,
        { _id, partner_id, status: 'active', updated_at: { $lte: unless_changed_since } },
        { $set: { status: 'disabled', disabled_at: at, updated_at: at } },
      ),
    /** Null if the endpoint is not untested. */
    setTested: (partner_id: string, _id: string, updated_at: Date) =>
      changeOne(
        endpoints,
        { _id, partner_id, untested: true },
        { $unset: { untested: true }, $set: { updated_at } },
      ),
    /** Replaces the secrets; null if they are no longer those of `endpoint`. */
    replaceSecrets: (
      { _id, partner_id, secrets: [newest] }: WebhookEndpoint,
      secrets: WebhookSecret[],
      updated_at: Date,
    ) =>
      changeOne(
        endpoints,
        {
          _id,
          partner_id,
          'secrets.0.sealed.wrapped_key': newest?.sealed.wrapped_key,
        } as Filter<WebhookEndpoint>,
        { $set: { secrets, updated_at } },
      ),
    /** False if there is no such endpoint. */
    async remove(partner_id: string, _id: string) {
      return (await endpoints.deleteOne({ _id, partner_id })).deletedCount === 1;
    },
  };
}
