import type { FailedEvent, LoggedRequest, Message } from './api/types';
import { keyOf, peopleOf, problemsOf, type Found } from './problems';

const advise = (code: string) =>
  code === '131026'
    ? { meaning: 'Not on the platform.', action: 'Do not retry.', cause: 'recipient' }
    : undefined;
const message = (id: string, error_code: string | null, at = '2026-11-02T10:00:00Z') =>
  ({
    message_id: id,
    contact: '15550100777',
    kind: 'text',
    updated_at: at,
    phone_number_id: '800',
    error_code,
    trace_id: 'abc',
  }) as Message;
const event = (id: string, over: Partial<FailedEvent>) =>
  ({
    event_id: id,
    event: 'message.received',
    created_at: '2026-11-02T09:00:00Z',
    last_attempt_at: '2026-11-02T10:00:00Z',
    last_http_status: null,
    last_error: null,
    attempts: 3,
    payload: { data: { from: '15550100888', message_id: 'wamid.B' } },
    ...over,
  }) as FailedEvent;
const request = (status: number, code: string | null, upstream_code: number | null = null) =>
  ({
    upstream_code,
    at: '2026-11-02T10:00:00Z',
    method: 'POST',
    path: '/messages/send',
    status,
    code,
    request_id: `req_${status}`,
  }) as LoggedRequest;

const keys = (found: Partial<Found>): string[] =>
  problemsOf({ messages: [], events: [], requests: [], ...found }, advise).map(keyOf);

test('groups messages by their code, with unknown codes as problems of the upstream', () => {
  const messages = [message('a', '131026'), message('b', '999'), message('c', null)];
  expect(keys({ messages })).toEqual(['upstream/999', 'upstream/unknown', 'recipient/131026']);
});

test('groups events by the answer of the receiver', () => {
  const events = [
    event('a', { last_http_status: 503 }),
    event('b', { last_http_status: 503 }),
    event('c', { last_error: 'connection refused' }),
    event('d', { attempts: 0 }),
    event('e', { last_http_status: 302 }),
  ];
  const found = problemsOf({ messages: [], events, requests: [] }, advise);
  expect(found.map((one) => [one.code, one.items.length])).toEqual([
    ['HTTP 503', 2],
    ['connection refused', 1],
    ['not tried yet', 1],
    ['HTTP 302', 1],
  ]);
  expect(found.every(({ cause }) => cause === 'receiver')).toBe(true);
  expect(found[0]?.items[0]).toMatchObject({
    contact: '15550100888',
    message_id: 'wamid.B',
    attempts: 3,
    what: 'message.received',
  });
});

test('leaves out calls that succeeded, and separates our failures from those of the upstream and the caller', () => {
  const requests = [
    request(200, null),
    request(400, 'MISSING_FIELDS'),
    request(502, 'UPSTREAM_ERROR'),
    request(503, 'SERVICE_UNAVAILABLE'),
    request(500, null),
  ];
  expect(keys({ requests }).sort()).toEqual([
    'gateway/HTTP 500',
    'gateway/SERVICE_UNAVAILABLE',
    'request/MISSING_FIELDS',
    'upstream/UPSTREAM_ERROR',
  ]);
});

test('places a call that the upstream refused by its code', () => {
  const known = { '132001': 'request', '131026': 'recipient', '131042': 'upstream' };
  const explain = (code: string) => {
    const cause = known[code as keyof typeof known];
    return cause && { meaning: `Means ${code}.`, action: 'Correct it.', cause };
  };
  const requests = [132_001, 131_026, 131_042, 999].map((upstream_code) =>
    request(502, 'UPSTREAM_ERROR', upstream_code),
  );
  const found = problemsOf({ messages: [], events: [], requests }, explain as typeof advise);
  expect(found.map((one) => [keyOf(one), one.meaning]).sort()).toEqual([
    ['recipient/131026', 'Means 131026.'],
    ['request/132001', 'Means 132001.'],
    ['upstream/131042', 'Means 131042.'],
    ['upstream/999', 'Calls of the API were answered with HTTP 502.'],
  ]);
});

test('lists the newest item first, and each person once', () => {
  const messages = [
    message('old', '131026', '2026-11-01T10:00:00Z'),
    message('new', '131026', '2026-11-02T10:00:00Z'),
  ];
  const [problem] = problemsOf({ messages, events: [], requests: [] }, advise);
  expect(problem?.items.map(({ id }) => id)).toEqual(['new', 'old']);
  expect(problem && peopleOf(problem)).toEqual(['15550100777']);
});
