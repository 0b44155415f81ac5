// What has to type-check with the client, and what must not: `make check` compiles this file. The
// values prove that the types are those of what is sent and received.
import { createClient, type components, type ErrorDetails, type LoggedEvent } from '.';

type Text = components['schemas']['SendTextRequest'];

const DETAILS = { field: 'to', fields: ['to'], outcome: 'unknown' };

/** A gateway that refuses every request, with a record of the bodies. */
function refusing() {
  const bodies: unknown[] = [];
  const client = createClient({
    base_url: 'https://gateway.test/v1',
    partner_key: 'k',
    async fetch(request) {
      bodies.push(await request.json());
      const error = { code: 'INVALID_FIELD', message: 'm', retryable: false, details: DETAILS };
      return Response.json({ success: false, error }, { status: 400 });
    },
  });
  return { client, bodies };
}

test('a quote by context is typed', async () => {
  const { client, bodies } = refusing();
  const body: Text = { to: '15550100777', text: 'Hello', context: { message_id: 'wamid.1' } };
  await client.POST('/messages/send', { params: { header: { 'x-waba-id': '1' } }, body });
  expect(bodies).toEqual([body]);

  const none: Text = { to: '15550100777', text: 'Hello', context: null };
  // @ts-expect-error the ID of the quoted message is missing
  const without: Text = { to: '15550100777', text: 'Hello', context: {} };
  // @ts-expect-error it is a text
  const wrong: Text = { to: '15550100777', text: 'Hello', context: { message_id: 1 } };
  expect([none, without, wrong]).toHaveLength(3);
});

test('the details of an error are typed', async () => {
  const { error } = await refusing().client.POST('/messages/send', {
    params: { header: { 'x-waba-id': '1' } },
    body: { text: 'Hello' },
  });
  const field: string | undefined = error?.error.details?.field;
  const fields: string[] | undefined = error?.error.details?.fields;
  const outcome: 'not_sent' | 'unknown' | undefined = error?.error.details?.outcome;
  expect([field, fields, outcome]).toEqual(['to', ['to'], 'unknown']);

  // @ts-expect-error it is a text
  const wrong: ErrorDetails = { field: 1 };
  expect(wrong).toBeDefined();
});

test('the data of an event of the log are typed by its name', () => {
  const textOf = ({ envelope }: LoggedEvent): string | null => {
    if (envelope.event === 'message.received') return envelope.data.text;
    // @ts-expect-error other events have no text
    return envelope.data.text ?? null;
  };
  const envelope = { event: 'message.received', data: { text: 'Hello' } };
  expect(textOf({ seq: 1, envelope } as unknown as LoggedEvent)).toBe('Hello');
});
