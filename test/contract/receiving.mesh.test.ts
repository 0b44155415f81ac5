// The page on receiving events is correct: each of its programs runs exactly as printed, and its
// signatures and headers are those of the service.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureHeaders } from '../../services/webhooks/src/delivery/sign-delivery';
import { joinMesh, ONE, type Mesh } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { codeBlock, codeBlocks, quoted, readPage, tableRow } from './receiving/page';
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
/** The settings of a partner of which only the address changes. */
const UNCHANGED = {
  name: undefined,
  rate_limit_per_sec: undefined,
  max_wabas: undefined,
  status: undefined,
};
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
  });
  afterAll(() => mesh.stop());

  test.each(LANGUAGES.filter(({ isHere }) => isHere))(
    'in $name continues where it was killed, and handles what the receiver beside it did not',
    async (language) => {
      const from = new Date().toISOString();
      const partner = await mesh.createPartner();
      await partner.register(ONE);
      const EVENTS_DIR = mkdtempSync(join(tmpdir(), 'bmg-events-'));
      const settings = { BASE_URL: mesh.base_url, PARTNER_KEY: partner.partner_key, EVENTS_DIR };
      const [receiverSource, pollerSource] = [language.file, language.poller].map((file) =>
        codeBlock(page, language.block, file),
      ) as [string, string];
      const poller = await preparePoller(language, pollerSource, settings);
      let receiver: Receiver | undefined;
      const inbound = () =>
        mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: '15550100777' });
      const events = async (): Promise<Array<{ event: string; event_id: string }>> =>
        (await partner.call('GET', '/events?limit=1000')).body.events;
      /** The poller has stored the position of the log's last event. */
      const untilRead = (count: number) =>
        eventually(async () => {
          const { length } = await events();
          return length >= count && poller.position() === length;
        });
      try {
        poller.start();
        await inbound();
        await inbound();
        await untilRead(2);
        await poller.kill();
        receiver = await startReceiver(
          language,
          receiverSource,
          partner.webhook_secret,
          EVENTS_DIR,
        );
        const { url: webhook_url } = receiver;
        const { partner_id } = partner;
        await mesh.operator.updatePartner({ ...UNCHANGED, partner_id, webhook_url }, mesh.call());
        await inbound();
        await eventually(() => receiver?.printed().includes('message.received'));
        poller.start();
        await untilRead(3);
        // Everything again, including the events that the poller has stored.
        const { body } = await partner.call('POST', '/events/replay', { from });
        await eventually(async () => {
          const replay = await partner.call('GET', `/events/replays/${body.replay_id}`);
          return replay.body.status === 'completed';
        });
        await eventually(async () => {
          // The history of the sign-up may still be growing.
          const logged = await events();
          expect(readdirSync(EVENTS_DIR).sort()).toEqual(
            logged.map(({ event_id }) => event_id).sort(),
          );
          const printed = [...poller.printed(), ...(receiver?.printed() ?? [])];
          expect(printed.sort()).toEqual(logged.map(({ event }) => event).sort());
          return true;
        });
      } finally {
        await Promise.all([poller.remove(), receiver?.stop()]);
        rmSync(EVENTS_DIR, { recursive: true, force: true });
      }
    },
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

  test('shows an event with the headers that the service sends', () => {
    const [, ...lines] = (codeBlocks(page, 'http')[0] as string).split('\n\n', 1)[0]!.split('\n');
    const shown = lines.map((line) => line.split(': ', 1)[0] as string);
    const signed = Object.keys(signatureHeaders(Buffer.from(''), [secret], 'evt_1', 1));
    const others = ['content-type', 'user-agent', 'traceparent'];
    expect(shown.sort()).toEqual([...others, ...signed].sort());
  });
});
