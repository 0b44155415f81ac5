import { eventOfStatus, statusesBelow, statusOfEvent, statusRank } from './statuses';

test('orders sent before delivered before read, and failed last', () => {
  expect(statusesBelow('sent')).toEqual([]);
  expect(statusesBelow('delivered')).toEqual(['sent']);
  expect(statusesBelow('read')).toEqual(['sent', 'delivered']);
  expect(statusesBelow('failed')).toEqual(['sent', 'delivered', 'read']);
});

test('keeps the ranks that are stored in Redis', () => {
  expect((['sent', 'delivered', 'read', 'failed'] as const).map(statusRank)).toEqual([0, 1, 2, 3]);
});

test('reads the status of a status event and of no other', () => {
  expect(statusOfEvent('message.delivered')).toBe('delivered');
  for (const event of ['message.received', 'message.echo', 'sent', 'message.accepted']) {
    expect(statusOfEvent(event)).toBeUndefined();
  }
});

test('names the event of a status that has one', () => {
  expect(eventOfStatus('failed')).toBe('message.failed');
  for (const status of ['accepted', 'played', '']) expect(eventOfStatus(status)).toBeUndefined();
});
