// The rules for webhook endpoints: which receiver, filters and headers one may have. Pure
// functions.
import { invalidField, missingFields } from '@bmg/common/errors';
import type { EndpointSettings } from '@bmg/proto/endpoints';
import type { Dependencies } from '../../dependencies';
import { checkPartnerUrl } from '../../ground/partner-url';
import { refuseLonger } from '../../ground/texts';
import type { EndpointFormat, WebhookEndpoint } from './store';

export const DESCRIPTION_MAX = 200;
const IDS_MAX = 100;
const EVENTS_MAX = 50;
const HEADERS_MAX = 10;
const HEADER_NAME_MAX = 64;
const HEADER_VALUE_MAX = 1_024;
export const MAX_PER_SECOND_MAX = 1_000;
const BINARY: EndpointFormat = 'cloudevents-binary';
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII and spaces between: above all no line break, which would start another header. */
const HEADER_VALUE = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/;
/** Headers of the connection, those that we set, and those that change how a body is read. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'traceparent',
  'tracestate',
  'x-service-signature',
]);
const RESERVED_PREFIXES = ['webhook-', 'ce-', 'proxy-', 'sec-', 'x-forwarded-'];

/** An endpoint has a URL or a destination, and only a URL takes headers of HTTP. */
export function checkReceiver(
  before: Pick<WebhookEndpoint, 'url' | 'destination'>,
  { url, destination, headers, format }: Partial<EndpointSettings>,
): void {
  const has_url = before.url !== null || url !== undefined;
  const has_destination = Boolean(before.destination ?? destination);
  if (!has_url && !has_destination) {
    throw missingFields(['url', 'destination'], 'url or destination is required');
  }
  if (has_url && has_destination) {
    const [field, other] = before.destination
      ? (['url', 'destination'] as const)
      : (['destination', 'url'] as const);
    throw invalidField(field, `cannot be combined with ${other}: an endpoint has one of them`);
  }
  if (has_url) return;
  if (Object.keys(headers?.by_name ?? {}).length > 0) {
    throw invalidField('headers', 'cannot be set for a destination: only a URL takes them');
  }
  if (format === BINARY) {
    throw invalidField('format', 'must be envelope or cloudevents-structured for a destination');
  }
}

/** The address in its normal form. Throws INVALID_FIELD naming `url`, with the reason. */
export const checkEndpointUrl = ({ settings }: Dependencies, url: string): string =>
  checkPartnerUrl(url, { field: 'url', allowPrivate: settings.ALLOW_PRIVATE_URLS }).href;

/** Each name once. The edge knows which names there are. */
export function checkEvents(events: string[]): string[] {
  refuseLonger('events', events, EVENTS_MAX);
  return [...new Set(events)];
}

/**
 * Each number once. A number that is not registered is accepted and gets no events, so that the
 * answer does not reveal which numbers are registered.
 */
export function checkNumbers(phone_number_ids: string[]): string[] {
  refuseLonger('phone_number_ids', phone_number_ids, IDS_MAX);
  return [...new Set(phone_number_ids)];
}

/** The headers with their names in lower case. Errors name the header and never repeat a value. */
export function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(headers);
  if (names.length > HEADERS_MAX) {
    throw invalidField('headers', `must have at most ${HEADERS_MAX} headers`);
  }
  const checked: Record<string, string> = {};
  for (const given of names) {
    const name = given.toLowerCase();
    const refuse = (reason: string): Error =>
      invalidField(`headers.${given.slice(0, HEADER_NAME_MAX)}`, reason);
    if (name.length > HEADER_NAME_MAX || !HEADER_NAME.test(name)) {
      throw refuse(`is not the name of a header of at most ${HEADER_NAME_MAX} characters`);
    }
    if (RESERVED_HEADERS.has(name) || RESERVED_PREFIXES.some((one) => name.startsWith(one))) {
      throw refuse('cannot be set: it belongs to the connection or to the gateway');
    }
    if (Object.hasOwn(checked, name)) throw refuse('is given twice');
    const value = headers[given] ?? '';
    if (value.length > HEADER_VALUE_MAX || !HEADER_VALUE.test(value)) {
      throw refuse(
        `must have a value of 1 to ${HEADER_VALUE_MAX} printable ASCII characters, without spaces around it`,
      );
    }
    checked[name] = value;
  }
  return checked;
}
