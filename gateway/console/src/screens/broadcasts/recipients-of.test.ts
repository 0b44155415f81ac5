import type { Message, TimelineEntry } from '../../api/types';
import { failureOf, recipientsOf, windowOf } from './recipients-of';

test('takes messages of the number from the start to shortly after the end', () => {
  const broadcast = {
    phone_number_id: '800',
    started_at: '2026-11-24T12:00:00.000Z',
    completed_at: '2026-11-24T12:01:00.000Z',
  };
  expect(windowOf(broadcast)).toEqual({
    phone_number_id: '800',
    from: '2026-11-24T12:00:00.000Z',
    to: '2026-11-24T12:01:05.000Z',
  });
  expect(windowOf({ ...broadcast, completed_at: null }).to).toBeUndefined();
});

test('leaves out messages that no broadcast sent', () => {
  const message = (message_id: string, broadcast: boolean) =>
    ({ message_id, broadcast }) as Message;
  expect(recipientsOf([message('a', true), message('b', false)])).toEqual([message('a', true)]);
});

test('takes the code of the last failure', () => {
  const entry = (fields: Partial<TimelineEntry>) => fields as TimelineEntry;
  expect(
    failureOf([
      entry({ status: 'sent' }),
      entry({ status: 'failed', error_code: '131026' }),
      entry({ type: 'event' }),
    ]),
  ).toBe('131026');
  expect(failureOf([entry({ status: 'failed' })])).toBeUndefined();
});
