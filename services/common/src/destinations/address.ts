// The address of a destination as one text, for the log of attempts and for events. It has no credentials.
import type { DestinationType, SettingsOf } from './settings';

const ADDRESSES: { readonly [T in DestinationType]: (settings: SettingsOf[T]) => string } = {
  kafka: ({ brokers, topic }) => `kafka://${brokers[0]}/${topic}`,
  amqp: ({ host, tls, exchange, routing_key }) =>
    `${tls ? 'amqps' : 'amqp'}://${host}/${exchange || routing_key}`,
  sqs: ({ queue_url }) => withoutQuery(queue_url),
  s3: ({ endpoint, bucket, prefix }) =>
    `${withoutQuery(endpoint).replace(/\/$/, '')}/${bucket}/${prefix}`,
};

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** `settings` are checked ones; credentials are not needed. */
export const addressOf = (type: DestinationType, settings: object): string =>
  (ADDRESSES[type] as (settings: object) => string)(settings);
