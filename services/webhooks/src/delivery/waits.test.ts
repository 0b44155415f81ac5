import { waitsOf } from './waits';

describe('waitsOf', () => {
  const way = {
    received: 1_000,
    webhook_published: 1_004,
    webhook_read: 1_010,
    delivery_published: 1_013,
    delivery_read: 1_033,
  };

  test('divides the way of an event among its steps', () => {
    expect(waitsOf(way, { delay_ms: 50, receiver_ms: 12 })).toEqual({
      ingress: 4,
      kafka_webhook: 6,
      fanout: 3,
      kafka_delivery: 20,
      webhooks: 5,
      receiver: 12,
    });
  });

  test('leaves out the steps of an event without a webhook', () => {
    const alert = { ...way, webhook_published: undefined, webhook_read: undefined };
    expect(waitsOf(alert, { delay_ms: 50, receiver_ms: 12 })).toEqual({
      fanout: 13,
      kafka_delivery: 20,
      webhooks: 5,
      receiver: 12,
    });
  });

  test('counts a step between clocks that differ as none', () => {
    const { fanout } = waitsOf({ ...way, webhook_read: 1_020 }, { delay_ms: 50, receiver_ms: 12 });
    expect(fanout).toBe(0);
  });
});
