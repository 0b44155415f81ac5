// The page on receiving events is correct: each of its programs runs exactly as printed, and its
// figures match the code.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_DELAYS_MS } from '../../services/webhooks/src/delivery/retry-schedule';
import { signatureHeaders } from '../../services/webhooks/src/delivery/sign-delivery';
import { JOIN_LIMIT_MS, joinMesh, ONE, type Mesh } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { codeBlock, quoted, readPage, tableRow } from './receiving/page';
import { LANGUAGES, preparePoller, startReceiver, type Receiver } from './receiving/receivers';

const page = readPage();

/** Long enough to start a Java virtual machine on a busy machine. */
const LIMIT_MS = 60_000;
/** Compiling with a cold cache takes half a minute on an idle machine. */
const COMPILED_LIMIT_MS = 180_000;
const POST_LIMIT_MS = 10_000;
const PRINT_LIMIT_MS = 5_000;
const POLL_MS = 20;
const WINDOW_S = 300;
/** Distance from the window's edge, longer than a test takes. */
const MARGIN_S = 30;

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const [secret, old_secret, stranger] = [newSecret(), newSecret(), newSecret()];

const bodyOf = (event: string, event_id: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      event,
      waba_id: '900000000000001',
      phone_number_id: '800000000000001',
      timestamp: 1795260441,
      data: { text: 'Thank you! 谢谢 🙏 "quoted" \\ \u2028' },
      meta: { event_id },
    }),
  );

const now_s = (offset_s = 0): number => Math.floor(Date.now() / 1_000) + offset_s;

async function post(url: string, body: Buffer, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(POST_LIMIT_MS),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Correctly signed by default. */
function deliver(
  { url }: Receiver,
  event: string,
  event_id: string,
  { secrets = [secret], at_s = now_s() }: { secrets?: string[]; at_s?: number } = {},
): Promise<number> {
  const body = bodyOf(event, event_id);
  return post(url, body, signatureHeaders(body, secrets, event_id, at_s));
}

async function untilPrinted(receiver: Receiver, lines: string[]): Promise<void> {
  const until = Date.now() + PRINT_LIMIT_MS;
  while (receiver.printed().length < lines.length && Date.now() < until) await sleep(POLL_MS);
  expect(receiver.printed()).toEqual(lines);
}

describe.each(LANGUAGES.filter(({ isHere }) => isHere))('the receiver in $name', (language) => {
  test(
    'accepts each correctly signed event once and refuses everything else',
    async () => {
      const source = codeBlock(page, language.block, language.file);
      const receiver = await startReceiver(language, source, `${secret} ${old_secret}`);
      try {
        await takesOnce(receiver);
        await refusesForeign(receiver);
        await refusesStale(receiver);
        await followsRotation(receiver);
        await untilPrinted(receiver, [
          'message.received',
          'message.delivered',
          'template.status_updated',
          'waba.account_updated',
          'something.new',
        ]);
      } finally {
        await receiver.stop();
      }
    },
    language.compiled ? COMPILED_LIMIT_MS : LIMIT_MS,
  );
});

async function takesOnce(receiver: Receiver): Promise<void> {
  expect(await deliver(receiver, 'message.received', 'evt_first')).toBe(200);
  // A retry has another timestamp and the same ID.
  expect(await deliver(receiver, 'message.received', 'evt_first', { at_s: now_s(2) })).toBe(200);
  expect(await deliver(receiver, 'message.delivered', 'evt_second')).toBe(200);
}

async function refusesForeign(receiver: Receiver): Promise<void> {
  const { url } = receiver;
  const event = 'message.failed';
  const body = bodyOf(event, 'evt_foreign');
  const right = signatureHeaders(body, [secret], 'evt_foreign', now_s());
  const wrong = signatureHeaders(body, [stranger], 'evt_foreign', now_s());
  const refused: Array<Record<string, string>> = [
    wrong,
    { ...right, 'x-service-signature': wrong['x-service-signature'] as string },
    { ...right, 'webhook-signature': wrong['webhook-signature'] as string },
    // Both signature headers must be valid.
    { ...right, 'webhook-id': 'evt_other' },
    { ...right, 'x-service-signature': '' },
    { ...right, 'webhook-signature': '' },
    { ...right, 'x-service-signature': 'sha256=\u00fc' },
    { ...right, 'webhook-signature': 'v1,\u00fc v1a,abc v1' },
    { ...right, 'webhook-timestamp': 'soon' },
    {},
  ];
  for (const headers of refused)
    expect([await post(url, body, headers), headers]).toEqual([401, headers]);
  const changed = Buffer.from(body);
  changed[changed.length - 3] = 88;
  expect(await post(url, changed, right)).toBe(401);
  // A refused event is not recorded as received.
  expect(receiver.printed()).not.toContain(event);
}

async function refusesStale(receiver: Receiver): Promise<void> {
  const at = (at_s: number) => deliver(receiver, 'message.read', 'evt_stale', { at_s });
  expect(await at(now_s(-WINDOW_S - MARGIN_S))).toBe(401);
  expect(await at(now_s(WINDOW_S + MARGIN_S))).toBe(401);
  expect(
    await deliver(receiver, 'template.status_updated', 'evt_late', {
      at_s: now_s(-WINDOW_S + MARGIN_S),
    }),
  ).toBe(200);
}

async function followsRotation(receiver: Receiver): Promise<void> {
  // Before the rotation, during the overlap with the newest first, and with an unknown secret.
  const events: Array<[string, string[], number]> = [
    ['waba.account_updated', [old_secret], 200],
    ['something.new', [secret, old_secret], 200],
    ['something.else', [stranger, old_secret], 401],
  ];
  for (const [event, secrets, status] of events) {
    expect(await deliver(receiver, event, `evt_${event}`, { secrets })).toBe(status);
  }
}

describe('the poller', () => {
  let mesh: Mesh;
  beforeAll(async () => {
    mesh = await joinMesh();
  }, JOIN_LIMIT_MS);
  afterAll(() => mesh.stop(), 60_000);

  test.each(LANGUAGES.filter(({ isHere }) => isHere))(
    'in $name reads each event once, and continues where it was killed',
    async (language) => {
      const partner = await mesh.createPartner();
      await partner.register(ONE);
      const poller = await preparePoller(
        language,
        codeBlock(page, language.block, language.poller),
        { BASE_URL: mesh.base_url, PARTNER_KEY: partner.partner_key },
      );
      const inbound = () =>
        mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: '15550100777' });
      const events = async (): Promise<Array<{ event: string }>> =>
        (await partner.call('GET', '/events?limit=1000')).body.events;
      /** The poller has stored the position of the log's last event. */
      const untilRead = (count: number) =>
        eventually(async () => {
          const { length } = await events();
          return length >= count && poller.position() === length;
        }, LIMIT_MS / 2);
      try {
        poller.start();
        await inbound();
        await inbound();
        await untilRead(2);
        await poller.kill();
        await inbound();
        poller.start();
        await untilRead(3);
        // The history of the sign-up may still be growing.
        await eventually(async () => {
          expect(poller.printed()).toEqual((await events()).map(({ event }) => event));
          return true;
        });
      } finally {
        await poller.remove();
      }
    },
    COMPILED_LIMIT_MS,
  );
});

describe('the page', () => {
  test('shows signatures that the service computes', () => {
    const [shown = ''] = quoted(tableRow(page, 'Secret')[0]);
    const [body = ''] = quoted(tableRow(page, 'Body')[0]);
    const [event_id = '', at_s = ''] = quoted(
      tableRow(page, '`webhook-id`, `webhook-timestamp`')[0],
    );
    const made = signatureHeaders(Buffer.from(body), [shown], event_id, Number(at_s));
    for (const name of ['x-service-signature', 'webhook-signature']) {
      expect(quoted(tableRow(page, `\`${name}\``)[0])).toEqual([made[name]]);
    }
  });

  test('shows the retry schedule of the service', () => {
    const units: Record<string, number> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const [first, ...waits] = tableRow(page, 'Wait before it');
    expect(first).toBe('–');
    expect(
      waits.map((wait) => {
        const [amount, unit = ''] = wait.split(' ');
        return Number(amount) * (units[unit] ?? NaN);
      }),
    ).toEqual(RETRY_DELAYS_MS);
    expect(tableRow(page, 'Attempt')).toHaveLength(RETRY_DELAYS_MS.length + 1);
  });
});
