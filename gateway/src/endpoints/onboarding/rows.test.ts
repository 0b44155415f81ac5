// The rows of onboarding as the contract's table has them.
import { ApiError } from '@bmg/common/errors';
import { replyOf, requestOf, rowOf, taken } from '../../../../test/contract/rows';

describe('registering from a code', () => {
  const NAME = 'POST /clients/register-from-code';

  test('answers a state only if the session has one', () => {
    const client = { waba_id: '1' };
    expect(replyOf(NAME, { client, state: 's' })).toMatchObject({ state: 's' });
    expect(replyOf(NAME, { client })).not.toHaveProperty('state');
  });

  test('answers 201 for a new client and 200 for an existing one', () => {
    const status = rowOf(NAME).status as (reply: object) => number;
    expect([status({ created: true }), status({ created: false })]).toEqual([201, 200]);
  });
});

describe('the period of the usage record', () => {
  const NAME = 'GET /usage';
  const read = (query: object) => requestOf(NAME, { query: taken(NAME, query) });

  test('accepts dates and times', () => {
    expect(read({ from: '2026-09-01', to: '2026-09-30' })).toEqual({
      partner_id: 'ptn_1',
      from: new Date('2026-09-01T00:00:00.000Z'),
      to: new Date('2026-09-30T23:59:59.999Z'),
    });
    expect(read({ from: '2026-09-01T10:00:00Z' })).toMatchObject({
      from: new Date('2026-09-01T10:00:00Z'),
      to: undefined,
    });
    // A plus in a query is a space unless it is encoded.
    expect(read({ to: '2026-09-01T10:00:00 02:00' })).toMatchObject({
      to: new Date('2026-09-01T08:00:00Z'),
    });
  });

  test.each(['yesterday', '2026-9-1', '2026-02-30', '2026-13-01', '2026-09-01T25:00:00Z', '1'])(
    'may not be %s',
    (from) => {
      expect(() => read({ from })).toThrow(ApiError);
    },
  );

  test('answers messages by category', () => {
    const messages = [{ category: 'utility', sent: 2, read: 1 }];
    const period = { from: new Date(0), to: new Date(1) };
    expect(replyOf(NAME, { ...period, endpoints: [], messages, billing: {} })).toEqual({
      period,
      endpoints: [],
      messages: { utility: { sent: 2, read: 1 } },
      billing: {},
    });
  });
});

test('answers null for absent fields of the log', () => {
  const event = { current_step: 'PAGE_OPENED', created_at: new Date(0) };
  expect(replyOf('GET /onboarding/events', { events: [event] }, { query: { limit: 50 } })).toEqual({
    count: 1,
    limit: 50,
    events: [
      {
        state: null,
        current_step: 'PAGE_OPENED',
        error_code: null,
        error_message: null,
        upstream_session_id: null,
        waba_id: null,
        phone_number_id: null,
        created_at: new Date(0),
      },
    ],
  });
});
