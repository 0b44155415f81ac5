import { Shadow } from '@bmg/proto/endpoints';
import { replyOf, requestOf, rowOf } from '../../../../test/contract/rows';

const START = 'POST /webhook-shadows';

const RUNNING = Shadow.fromPartial({
  shadow_id: 'shd_1',
  comparison: {
    compared: 1,
    answers: [{ first: '2xx', shadow: 'timeout', events: 1 }],
    first: { p50_ms: 3, p99_ms: 10 },
    differences: [
      {
        event_id: 'evt_1',
        first: { http_status: 200, duration_ms: 3 },
        shadow: { error: 'timeout', duration_ms: 10_000 },
      },
    ],
  },
});

test('a shadow without headers and endpoint has none', () => {
  const body = { url: 'https://new.example.com', source: 'live', hours: 24, max_per_second: 20 };
  for (const headers of [undefined, null]) {
    expect(requestOf(START, { body: { ...body, headers } })).toEqual({
      partner_id: 'ptn_1',
      settings: { ...body, endpoint_id: undefined, headers: { by_name: {} } },
      changelog: 'https://gateway.example.com/changelog',
    });
  }
});

test('an answer shows null for what has not happened', () => {
  expect(replyOf('GET /webhook-shadows/:shadow_id', RUNNING)).toMatchObject({
    shadow: {
      endpoint_id: null,
      ended_at: null,
      comparison: {
        compared: 1,
        answers: [{ first: '2xx', shadow: 'timeout', events: 1 }],
        first: { p50_ms: 3, p99_ms: 10 },
        shadow: { p50_ms: null, p99_ms: null },
        differences: [
          {
            first: { http_status: 200, error: null },
            shadow: { http_status: null, error: 'timeout' },
          },
        ],
      },
    },
  });
});

test('a list leaves out single events', () => {
  const { shadows } = replyOf('GET /webhook-shadows', { shadows: [RUNNING] }) as {
    shadows: Array<{ comparison: object }>;
  };
  expect(shadows[0]?.comparison).toMatchObject({ compared: 1 });
  expect(shadows[0]?.comparison).not.toHaveProperty('differences');
});

test('the audit log has neither the address nor the headers', () => {
  expect(rowOf(START).audit?.values).toEqual(['endpoint_id', 'source', 'hours', 'max_per_second']);
});
