import { createPeppers } from '@bmg/common/keys';
import type { InsideAnswer } from '../edge/inside';
import type { Endpoint } from '../endpoints/endpoint';
import type { RowRequest } from './arguments';
import { createCallTool, isQuestion, RESULT_BYTES_MAX, type Caller } from './calls';
import type { Dialog, Question } from './question';

const call = createCallTool(
  createPeppers('a pepper of these tests'),
  'https://gateway.example.com/docs',
);

interface Run {
  path: string;
  request: RowRequest;
}

interface Answer {
  status?: number;
  body?: object | string;
  headers?: Record<string, string>;
}

/** A caller whose requests are answered from a list, by path. */
function callerOf(answers: Record<string, Answer>, partner_id = 'prt_1'): Caller & { runs: Run[] } {
  const runs: Run[] = [];
  return {
    runs,
    partner_id,
    request_id: 'req-1',
    async run({ path }: Endpoint, request: RowRequest): Promise<InsideAnswer> {
      runs.push({ path, request });
      const { status = 200, body = { success: true }, headers = {} } = answers[path] ?? {};
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return { status, body: text, header: (name) => headers[name] ?? '' };
    },
  };
}

const firstOf = async (name: string, given: object, caller: Caller, dialog?: Dialog) => {
  const result = await call(name, { ...given }, caller, dialog);
  if (!result || isQuestion(result)) throw new Error('the call has no result');
  const [first, ...notes] = result.content.map(({ text }) => text);
  return { is_error: result?.isError === true, body: JSON.parse(first ?? 'null'), notes };
};

const CHECKED = {
  success: true,
  deliverable: 'yes',
  reasons: [],
  price: { category: 'service', billable: false },
  window: { state: 'open' },
  pace: null,
  broadcast: null,
};
const given = { waba_id: '900000000000001', to: '15550100777', text: 'Hi' };

test('a tool that reads returns the JSON of its endpoint', async () => {
  const caller = callerOf({ '/clients': { body: { success: true, clients: [] } } });
  expect(await firstOf('list_numbers', { limit: 5 }, caller)).toEqual({
    is_error: false,
    body: { success: true, clients: [] },
    notes: [],
  });
  expect(caller.runs).toMatchObject([{ path: '/clients', request: { query: { limit: '5' } } }]);
});

test('an error of the endpoint is an error of the tool, with how long to wait', async () => {
  const body = { success: false, error: { code: 'RATE_LIMIT_EXCEEDED' } };
  const caller = callerOf({ '/waba': { status: 429, body, headers: { 'Retry-After': '2' } } });
  expect(await firstOf('diagnose_account', { waba_id: '1' }, caller)).toEqual({
    is_error: true,
    body,
    notes: ['Wait 2 s before you try again.'],
  });
});

test('the keys that an endpoint ignored are named beside its answer', async () => {
  const headers = { 'X-Service-Ignored': 'page' };
  const caller = callerOf({ '/clients': { body: { success: true }, headers } });
  expect(await firstOf('list_numbers', { limit: 5 }, caller)).toMatchObject({
    is_error: false,
    notes: ['These arguments were ignored: page.'],
  });
});

test('arguments that are refused never reach the endpoint', async () => {
  const caller = callerOf({});
  expect(await firstOf('find_messages', { page: 2 }, caller)).toMatchObject({
    is_error: true,
    body: {
      error: {
        code: 'INVALID_FIELD',
        details: { field: 'page' },
        request_id: 'req-1',
        doc_url: 'https://gateway.example.com/docs#INVALID_FIELD',
      },
    },
  });
  expect(caller.runs).toEqual([]);
});

test('no other name is a tool, not even a property that every object has', async () => {
  for (const name of ['', 'send', 'constructor', '__proto__']) {
    expect(await call(name, {}, callerOf({}))).toBeUndefined();
  }
});

test.each([
  ['find_messages', '/messages', { details: { field: 'limit' } }],
  ['list_templates', '/templates', { message: expect.stringContaining('use the REST API') }],
])('an answer of %s that is too long is refused', async (name, path, error) => {
  const body = JSON.stringify({ text: 'ä'.repeat(RESULT_BYTES_MAX / 2) });
  const answer = await firstOf(name, { waba_id: '1' }, callerOf({ [path]: { body } }));
  expect(answer).toMatchObject({ is_error: true, body: { error } });
});

describe('a tool that sends', () => {
  const answers = { '/messages/check': { body: CHECKED } };

  test('only checks at first', async () => {
    const caller = callerOf(answers);
    const { body } = await firstOf('send_text', given, caller);
    expect(body).toMatchObject({
      sent: false,
      would_send: { recipients: 1, body: { to: given.to, text: given.text } },
      cost: CHECKED.price,
      confirmation: expect.any(String),
    });
    expect(caller.runs).toMatchObject([
      { path: '/messages/check', request: { body: { kind: 'text', text: 'Hi' } } },
    ]);
  });

  test('sends with the confirmation, in any order of arguments, under one Idempotency-Key', async () => {
    const { confirmation } = (await firstOf('send_text', given, callerOf(answers))).body;
    const caller = callerOf({});
    const { text, to, waba_id } = given;
    await firstOf('send_text', { ...given, confirmation }, caller);
    await firstOf('send_text', { confirmation, text, to, waba_id }, caller);
    const [first, second] = caller.runs.map(({ path, request }) => [
      path,
      request.headers['idempotency-key'],
      request.body,
    ]);
    expect(first).toEqual(second);
    expect(first).toEqual([
      '/messages/send',
      expect.stringMatching(/^confirmation-/),
      { to, text },
    ]);
  });

  test('reports that a repeated confirmation sent nothing', async () => {
    const { confirmation } = (await firstOf('send_text', given, callerOf(answers))).body;
    const caller = callerOf({
      '/messages/send': { headers: { 'Idempotency-Replayed': 'true' } },
    });
    const { notes } = await firstOf('send_text', { ...given, confirmation }, caller);
    expect(notes).toEqual([expect.stringContaining('nothing was sent again')]);
  });

  test.each([
    ['other arguments', { text: 'Ho' }, 'prt_1'],
    ['another partner', {}, 'prt_2'],
  ])('sends nothing for %s', async (_name, changed, partner_id) => {
    const { confirmation } = (await firstOf('send_text', given, callerOf(answers))).body;
    const caller = callerOf({}, partner_id);
    const answer = await firstOf('send_text', { ...given, ...changed, confirmation }, caller);
    expect(answer.body.error).toMatchObject({ details: { field: 'confirmation' } });
    expect(caller.runs).toEqual([]);
  });

  test('names the faults of the arguments as the endpoint does', async () => {
    const caller = callerOf(answers);
    const { body } = await firstOf('send_text', { waba_id: '1', to: 'x' }, caller);
    expect(body.error).toMatchObject({ code: 'MISSING_FIELDS', details: { fields: ['text'] } });
    expect(caller.runs).toEqual([]);
  });

  test('gives no confirmation for a send that would fail, and passes on why', async () => {
    const reasons = [{ code: 'UPSTREAM_ERROR', field: 'to' }];
    const body = { ...CHECKED, deliverable: 'no', reasons };
    const answer = await firstOf('send_text', given, callerOf({ '/messages/check': { body } }));
    expect(answer.body).toMatchObject({
      sent: false,
      confirmation: null,
      expires_at: null,
      reasons,
    });
  });

  test('passes on the error of a check', async () => {
    const body = { success: false, error: { code: 'MISSING_WABA' } };
    const caller = callerOf({ '/messages/check': { status: 400, body } });
    expect(await firstOf('send_text', given, caller)).toMatchObject({ is_error: true, body });
  });

  test('counts the contacts of a broadcast', async () => {
    const body = { ...CHECKED, price: null, broadcast: { total: 3, cost: { max: '0.30' } } };
    const broadcast = {
      waba_id: '1',
      name: 'Autumn',
      template_name: 'hello_world',
      template_language: 'en_US',
      contacts: ['15550100777'],
    };
    const caller = callerOf({ '/messages/check': { body } });
    const answer = await firstOf('send_broadcast', broadcast, caller);
    expect(answer.body).toMatchObject({ would_send: { recipients: 3 }, cost: { max: '0.30' } });
  });
});

describe('a client that can ask its user', () => {
  const can_ask = { can_ask: true };
  const answers = { '/messages/check': { body: CHECKED } };
  const questionFor = async (given_to: object, caller = callerOf(answers)): Promise<Question> => {
    const outcome = await call('send_text', { ...given_to }, caller, can_ask);
    if (!outcome || !isQuestion(outcome)) throw new Error('there is no question');
    return outcome;
  };
  const replied = (confirmation: unknown, is_accepted = true): Dialog => ({
    ...can_ask,
    reply: { is_accepted, confirmation },
  });

  test('gets a question with the price, and nothing is sent', async () => {
    const caller = callerOf(answers);
    const { message, confirmation } = await questionFor(given, caller);
    expect(message).toMatch(/^Send a text\?\n/);
    expect(message).toContain('Cost: free (service)');
    expect(message).toContain(given.to);
    expect(message).not.toContain(confirmation);
    expect(caller.runs.map(({ path }) => path)).toEqual(['/messages/check']);
  });

  test('sends once with the acceptance, under one Idempotency-Key', async () => {
    const { confirmation } = await questionFor(given);
    const caller = callerOf({});
    await firstOf('send_text', given, caller, replied(confirmation));
    await firstOf('send_text', given, caller, replied(confirmation));
    const keys = caller.runs.map(({ path, request }) => [path, request.headers['idempotency-key']]);
    expect(keys[0]).toEqual(['/messages/send', expect.stringMatching(/^confirmation-/)]);
    expect(keys[1]).toEqual(keys[0]);
  });

  test('sends nothing if the user declines', async () => {
    const { confirmation } = await questionFor(given);
    const caller = callerOf(answers);
    const declined = replied(confirmation, false);
    const { is_error, body } = await firstOf('send_text', given, caller, declined);
    expect([is_error, body]).toMatchObject([false, { sent: false }]);
    // A confirmation beside it does not send either.
    await firstOf('send_text', { ...given, confirmation }, caller, declined);
    expect(caller.runs).toEqual([]);
  });

  test.each<[string, (confirmation: string) => unknown, object]>([
    ['without a confirmation', () => undefined, {}],
    ['for other arguments', (text) => text, { text: 'Ho' }],
  ])('sends nothing for an acceptance %s', async (_name, change, changed) => {
    const { confirmation } = await questionFor(given);
    const caller = callerOf({});
    const reply = replied(change(confirmation));
    const { body } = await firstOf('send_text', { ...given, ...changed }, caller, reply);
    expect(body.error).toMatchObject({ details: { field: 'confirmation' } });
    expect(caller.runs).toEqual([]);
  });

  test('gets no question about a send that would fail', async () => {
    const body = { ...CHECKED, deliverable: 'no' };
    const caller = callerOf({ '/messages/check': { body } });
    const answer = await firstOf('send_text', given, caller, can_ask);
    expect(answer.body).toMatchObject({ sent: false, confirmation: null });
  });
});
