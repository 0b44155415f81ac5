// make demo: shows the main features on real traffic, step by step. It uses the running mesh, or
// starts one and stops it again. A failed step ends the demo with the reason. An argument names a
// folder for the mesh's files instead of `.run`.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  down,
  isUp,
  loadSampleRates,
  LocalError,
  readEnv,
  RUN_DIR,
  runningIn,
  stopSince,
  up,
} from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { isSigned, startPartner, type Arrival, type PartnerReceiver } from '../testkit/partner';
import { callRest } from '../testkit/rest';

const ROOT = resolve(__dirname, '../../..');
const DIR = resolve(process.argv[2] ?? RUN_DIR);
const WAIT_MS = 15_000;
const BROADCAST_WAIT_MS = 40_000;
const BROADCAST_CONTACTS = 60;
const PROGRESS_EVERY_MS = 250;
const BAR_WIDTH = 30;
const run = promisify(execFile);

const say = (text: string): void => void process.stdout.write(`${text}\n`);
/** A detail of a step. */
const sub = (text: string): void => say(`   ${text}`);
let steps = 0;
function step(text: string): void {
  steps += 1;
  say(`\n${steps}. ${text}`);
}

interface Scene {
  base_url: string;
  emulator: EmulatorClient;
  receiver: PartnerReceiver;
  key: string;
  secret: string;
}

const NUMBER = {
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  access_token: 'EMULATED-TOKEN-1',
};
const CUSTOMER = '15550100777';

async function main(): Promise<void> {
  const before = runningIn(DIR);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => void interrupt(name, before));
  }
  const running = await isUp(DIR);
  let started: string[] = [];
  let shown: string | undefined;
  const receiver = await startPartner();
  try {
    step(
      running ? 'Using the mesh that is already running' : 'Starting engines, mesh and emulator',
    );
    if (!running) {
      const mesh = await up({ dir: DIR, log: (line) => sub(line) });
      started = mesh.started;
    }
    const env = readEnv(DIR);
    const upstream = env['UPSTREAM_URL'] ?? '';
    const emulator = new EmulatorClient(upstream);
    await emulator.state().catch(() => {
      throw new Error(
        `the demo needs the emulator as its upstream, but UPSTREAM_URL is ${upstream || 'not set'}`,
      );
    });
    const loaded = await loadSampleRates(env);
    if (loaded) sub(loaded);
    const base_url = env['BASE_URL'] ?? 'http://127.0.0.1:8080/v1';
    const { key, secret } = await createPartner(receiver);
    const scene: Scene = { base_url, emulator, receiver, key, secret };
    await registerClient(scene);
    await sendMessages(scene);
    await receiveMessage(scene);
    await broadcast(scene);
    shown = base_url;
  } catch (error) {
    if (error instanceof LocalError) started = error.started;
    throw error;
  } finally {
    await receiver.close();
    if (!running && !interrupted && started.length > 0) {
      step('Stopping the processes that the demo started');
      await down({ dir: DIR, names: started as never, log: () => undefined });
    }
  }
  if (shown !== undefined) next(running, shown);
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 };
let interrupted = false;

/**
 * The processes run in the background: without this, Ctrl-C would leave them running. A second
 * Ctrl-C must not end the demo before they have stopped.
 */
async function interrupt(
  signal: keyof typeof SIGNAL_EXIT,
  before: ReturnType<typeof runningIn>,
): Promise<void> {
  if (interrupted) return;
  interrupted = true;
  say('\nInterrupted: stopping the processes that the demo started ...');
  await stopSince(before, { dir: DIR, log: () => undefined });
  process.exit(SIGNAL_EXIT[signal]);
}

async function createPartner(receiver: PartnerReceiver): Promise<{ key: string; secret: string }> {
  step('Create a partner:  npx bmg partner create --name "Demo partner" --webhook-url …');
  const bmg = [resolve(ROOT, 'deploy/cli/bin/bmg.js'), '--json', 'partner', 'create'];
  const { stdout } = await run(
    process.execPath,
    [...bmg, '--name', 'Demo partner', '--webhook-url', receiver.url],
    { cwd: ROOT, env: { ...process.env, ...readEnv(DIR) } },
  );
  const created = JSON.parse(stdout) as {
    partner_id: string;
    partner_key: string;
    webhook_secret: string;
  };
  sub(
    `partner ${created.partner_id}, key ${created.partner_key.slice(0, 9)}… and webhook secret (shown once)`,
  );
  return { key: created.partner_key, secret: created.webhook_secret };
}

async function registerClient(scene: Scene): Promise<void> {
  step('Register a client’s number:  POST /clients/register');
  const { client } = await rest(scene, 'POST', '/clients/register', NUMBER);
  sub(
    `${client['display_name']} +${client['phone_number']}: ${client['status']}, quality ${client['quality_rating']}; its token is stored encrypted`,
  );
}

async function sendMessages(scene: Scene): Promise<void> {
  step('Send a text:  POST /messages/send');
  const text = await rest(scene, 'POST', '/messages/send', {
    to: CUSTOMER,
    text: 'Your order A-17 is on its way.',
  });
  sub(`message_id ${text.message_id}`);
  await statuses(scene, text.message_id);

  step('Send a template:  POST /messages/template');
  const template = await rest(scene, 'POST', '/messages/template', {
    to: CUSTOMER,
    template: {
      name: 'order_update',
      language: 'en_US',
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: 'A-17' },
          ],
        },
      ],
    },
  });
  sub(`message_id ${template.message_id}`);
  await statuses(scene, template.message_id);
}

/** Waits for a message's sent, delivered and read events. */
async function statuses(scene: Scene, message_id: string): Promise<void> {
  for (const name of ['message.sent', 'message.delivered', 'message.read']) {
    const { body } = await signedEvent(scene, name, message_id);
    const pricing = body.data['pricing'] as { category?: string; billable?: boolean } | null;
    const price = pricing ? `, ${pricing.category}, ${pricing.billable ? 'billable' : 'free'}` : '';
    sub(`event ${name.padEnd(17)} signature ok${price}`);
  }
}

async function receiveMessage(scene: Scene): Promise<void> {
  step('A customer writes: the upstream posts a webhook, the partner gets a signed event');
  const { message_id } = await scene.emulator.inbound({
    phone_number_id: NUMBER.phone_number_id,
    from: CUSTOMER,
    name: 'Ada',
    text: 'Thank you!',
  });
  const arrival = await signedEvent(scene, 'message.received', message_id);
  sub(
    `x-service-signature ${String(arrival.headers['x-service-signature']).slice(0, 30)}…  webhook-id ${String(arrival.headers['webhook-id']).slice(0, 20)}…`,
  );
  const { event, waba_id, phone_number_id, timestamp, data } = arrival.body;
  const { raw: _raw, ...shown } = data;
  sub(JSON.stringify({ event, waba_id, phone_number_id, timestamp, data: shown }));
}

async function broadcast(scene: Scene): Promise<void> {
  step(`Broadcast to ${BROADCAST_CONTACTS} contacts at the number’s pace:  POST /broadcasts`);
  const { broadcast_id, total } = await rest(scene, 'POST', '/broadcasts', {
    name: 'Demo',
    template_name: 'hello_world',
    template_language: 'en_US',
    template_components: [],
    contacts: Array.from({ length: BROADCAST_CONTACTS }, (_none, index) =>
      String(15_550_300_000 + index),
    ),
  });
  sub(`broadcast ${broadcast_id}, ${total} contacts`);
  const until = Date.now() + BROADCAST_WAIT_MS;
  const live = process.stdout.isTTY;
  let last = -1;
  for (;;) {
    const { broadcast: state, progress } = await rest(scene, 'GET', `/broadcasts/${broadcast_id}`);
    const filled = Math.round((progress / 100) * BAR_WIDTH);
    const line = `   [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${String(Math.round(progress)).padStart(3)} %  sent ${state['sent']}  delivered ${state['delivered']}  failed ${state['failed']}`;
    if (live) process.stdout.write(`\r${line}  `);
    else if (Math.floor(progress / 25) !== last) say(line);
    last = Math.floor(progress / 25);
    const done = state['status'] === 'completed' && state['delivered'] === state['sent'];
    if (done) {
      if (live) process.stdout.write('\n');
      if (state['sent'] !== total) throw new Error(`only ${state['sent']} of ${total} were sent`);
      sub(
        'completed, at most 20 messages per second: the number is also in use in the business app',
      );
      return;
    }
    if (Date.now() > until) throw new Error('the broadcast did not complete in time');
    await sleep(PROGRESS_EVERY_MS);
  }
}

/** Waits for an event, and checks its signature. */
async function signedEvent(
  { receiver, secret }: Scene,
  name: string,
  message_id: string,
): Promise<Arrival> {
  const isWanted = ({ body }: Arrival): boolean =>
    body.event === name && body.data['message_id'] === message_id;
  const arrival = await eventually(() => receiver.arrivals.find(isWanted), WAIT_MS).catch(() => {
    throw new Error(`${name} of ${message_id} did not arrive within ${WAIT_MS / 1_000} s`);
  });
  if (!isSigned(arrival, secret)) {
    throw new Error(`${name} was not signed with the partner's secret`);
  }
  return arrival;
}

/** An answer of any endpoint; the demo reads the fields that it shows. */
type RestAnswer = Record<string, any>; // any: see above

async function rest(
  { base_url, key }: Scene,
  method: string,
  path: string,
  body?: unknown,
): Promise<RestAnswer> {
  const headers = { 'x-partner-key': key, 'x-waba-id': NUMBER.waba_id };
  const answer = await callRest(base_url, method, path, body, headers);
  if (answer.status >= 400) {
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  return answer.body as RestAnswer;
}

function next(running: boolean, base_url: string): void {
  step('Done. Next steps');
  if (!running)
    sub('make up                    the same mesh in the background; make down stops it');
  sub('npx bmg partner create --name "Me" --webhook-url URL    your own partner');
  sub(`curl ${base_url}/health    the state of each part`);
  sub('make test                  all tests, on real engines');
}

main().catch((error: unknown) => {
  // Its processes were stopped from outside.
  if (interrupted) return;
  process.stderr.write(
    `\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});
