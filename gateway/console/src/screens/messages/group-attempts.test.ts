import type { TimelineEntry } from '../../api/types';
import { stepsOf } from './group-attempts';

const entry = (type: string, fields: Partial<TimelineEntry> = {}): TimelineEntry => ({
  type,
  at: '2026-11-24T12:00:00.000Z',
  trace_id: null,
  ...fields,
});

test('puts each attempt below its event, whatever stands between them', () => {
  const sent = entry('event', { event: 'message.sent', event_id: 'evt_1' });
  const read = entry('event', { event: 'message.read', event_id: 'evt_2' });
  const first = entry('attempt', { event_id: 'evt_1', number: 1, http_status: 503 });
  const other = entry('attempt', { event_id: 'evt_2', number: 1, http_status: 200 });
  const second = entry('attempt', { event_id: 'evt_1', number: 2, http_status: 200 });
  const accepted = entry('accepted');
  expect(stepsOf([accepted, sent, read, first, other, second])).toEqual([
    { entry: accepted, attempts: [] },
    { entry: sent, attempts: [first, second] },
    { entry: read, attempts: [other] },
  ]);
});

test('keeps an attempt whose event could not be read', () => {
  const attempt = entry('attempt', { event_id: 'evt_9', number: 1 });
  expect(stepsOf([attempt])).toEqual([{ entry: attempt, attempts: [] }]);
});
