import type { LoggedEvent } from './api/types';
import { contactOf, conversationOf, receivedFrom, type Turn } from './conversation';

test.each([
  ['+1 555 010-0777', '15550100777'],
  [' 15550100777 ', '15550100777'],
  ['US.4Qm7Zr81Kd02', 'US.4Qm7Zr81Kd02'],
])('reads %s as %s', (text, contact) => {
  expect(contactOf(text)).toBe(contact);
});

const received = (data: object, phone_number_id = '800') =>
  ({
    envelope: { event: 'message.received', phone_number_id, data },
    logged_at: '2026-11-02T10:00:00Z',
  }) as unknown as LoggedEvent;

test('reads a received message, its text only on request, if the number received it', () => {
  const data = { from: '1555', bsuid: 'US.A', message_id: 'wamid.A', type: 'text', text: 'Hi' };
  expect(receivedFrom(received(data), '800')).toEqual({
    message_id: 'wamid.A',
    direction: 'inbound',
    kind: 'text',
    status: null,
    at: '2026-11-02T10:00:00Z',
    cost: null,
  });
  expect(receivedFrom(received(data, '801'), '800')).toBeUndefined();
  expect(receivedFrom(received(data), '800', true)).toMatchObject({ text: 'Hi' });
  const image = { ...data, type: 'image', text: null };
  expect(receivedFrom(received(image), '800', true)).not.toHaveProperty('text');
});

test('reads from the oldest to the newest message, each once', () => {
  const turn = (message_id: string, at: string): Turn => ({
    message_id,
    at,
    direction: 'outbound',
    kind: 'text',
    status: 'sent',
    cost: null,
  });
  const turns = [turn('b', '2026-11-02'), turn('a', '2026-11-01'), turn('b', '2026-11-02')];
  expect(conversationOf(turns).map(({ message_id }) => message_id)).toEqual(['a', 'b']);
});
