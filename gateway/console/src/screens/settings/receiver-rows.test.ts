import type { LoggedEvent, Settings, WebhookEndpoint } from '../../api/types';
import { endpointRow, webhookRow } from './receiver-rows';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const endpoint = (over: object = {}, health: object = {}) =>
  ({
    endpoint_id: 'whe_1',
    url: 'https://crm.example.com/hooks?token=secret',
    destination: null,
    description: '',
    events: ['message.*', 'call.connect', 'client.failed'],
    status: 'active',
    ...over,
    health: { delivered: 12, refused: 3, retrying: 2, last_success_at: null, ...health },
  }) as WebhookEndpoint;
const event = (hours_ago: number, status: string): LoggedEvent =>
  ({
    logged_at: new Date(NOW - hours_ago * 3_600_000).toISOString(),
    delivery: {
      status,
      delivered_at: status === 'delivered' ? `delivered ${hours_ago} hours ago` : null,
    },
  }) as LoggedEvent;
const settings = (webhook_url: string | null, extra_events: string[] = []) =>
  ({ webhook_url, extra_events }) as unknown as Settings;

test('an endpoint is named by its description, or by the host without its path and query', () => {
  expect(endpointRow(endpoint())).toEqual({
    id: 'whe_1',
    name: 'crm.example.com',
    target: null,
    status: 'active',
    events: 'message.*, call.connect and 1 other',
    accepted: 12,
    refused: 3,
    waiting: 2,
    last_success_at: null,
  });
  const named = endpointRow(endpoint({ description: 'CRM' }));
  expect([named.name, named.target]).toEqual(['CRM', 'crm.example.com']);
});

test.each([
  [{ type: 'kafka', topic: 'orders' }, 'kafka: orders'],
  [{ type: 'amqp', exchange: '', routing_key: 'bmg' }, 'amqp: bmg'],
  [{ type: 's3', bucket: 'events' }, 's3: events'],
])('the destination %j is named by its type and place', (destination, name) => {
  expect(endpointRow(endpoint({ url: null, destination })).name).toBe(name);
});

test('the figures of the webhook address are of the last 24 hours of the log', () => {
  const row = webhookRow(
    {
      settings: settings('https://partner.example.com/hook', ['call.connect']),
      endpoints: [endpoint(), endpoint()],
      latest: [
        event(1, 'retrying'),
        event(2, 'delivered'),
        event(3, 'pending'),
        event(30, 'failed'),
      ],
      most: 200,
      waiting: 5,
    },
    NOW,
  );
  expect(row).toMatchObject({
    target: 'partner.example.com',
    status: 'active',
    events: 'all, 1 extra',
    accepted: 1,
    refused: 1,
    is_part: false,
    waiting: 1,
    last_success_at: 'delivered 2 hours ago',
  });
});

test('figures that are not known yet are null, and a full page counts a part of the day', () => {
  const figures = { settings: settings(null), endpoints: [], most: 1, waiting: undefined };
  expect(webhookRow({ ...figures, latest: undefined }, NOW)).toMatchObject({
    status: 'no_address',
    accepted: null,
    refused: null,
    waiting: null,
  });
  const full = webhookRow({ ...figures, latest: [event(1, 'delivered')] }, NOW);
  expect([full.accepted, full.is_part]).toEqual([1, true]);
});
