// The commands of the guides work: each page's run in a shell, one after the other, against a mesh. The
// programs of the pages on events and on the sign-up have tests of their own.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readRateCard } from '../../services/messaging/src/rates/rate-card';
import { load } from '../helm/yaml';
import { JOIN_LIMIT_MS, joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { codeBlocks } from './receiving/page';

const run = promisify(execFile);
const FOLDER = resolve(__dirname, '../../gateway/docs/guides');
const read = (name: string): string => readFileSync(resolve(FOLDER, `${name}.md`), 'utf8');
const GUIDES = readdirSync(FOLDER).map((name) => basename(name, '.md'));
/** A command fails with an answer above 399, and its answers are one on a line. */
const PRELUDE = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; echo; }\n';
const LIMIT_MS = 60_000;

let mesh: Mesh;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guides-'));
  mesh = await joinMesh();
}, JOIN_LIMIT_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mesh.stop();
}, 60_000);

const here = (script: string, { receiver }: TestPartner): string =>
  script
    .replaceAll('900000000000001', ONE.waba_id)
    .replaceAll('800000000000001', ONE.phone_number_id)
    .replaceAll('EMULATED-TOKEN-1', ONE.access_token)
    .replaceAll('https://crm.example.com/messages', receiver.url);

/** The ID of an event that the partner's receiver has refused for good. */
async function refusedEvent({ receiver, call }: TestPartner): Promise<string> {
  receiver.behave((_arrival, response) => void response.writeHead(410).end());
  await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
  const event_id = await eventually(async () => {
    const { body } = await call('GET', '/webhooks/failed?status=failed');
    const events = body.events as Array<{ event: string; event_id: string }>;
    return events.find(({ event }) => event === 'message.received')?.event_id;
  });
  receiver.behave(undefined);
  return event_id;
}

async function sentMessage({ call }: TestPartner): Promise<string> {
  const { body } = await call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hi' },
    { 'x-waba-id': ONE.waba_id },
  );
  return body.message_id as string;
}

async function createdKey({ call }: TestPartner): Promise<string> {
  const { body } = await call('POST', '/keys', { name: 'Orders', scopes: ['read'] });
  return body.key.key_id as string;
}

const scripts = GUIDES.map((name): [string, string] => [
  name,
  codeBlocks(read(name), 'sh').join('\n'),
]).filter(([, script]) => script !== '');

test.each(scripts)(
  'the commands of %s succeed',
  async (name, script) => {
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const EVENT_ID = name === 'receiving' ? await refusedEvent(partner) : '';
    const MESSAGE_ID = name === 'answers' ? await sentMessage(partner) : '';
    const KEY_ID = name === 'audit' ? await createdKey(partner) : '';
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      BASE_URL: mesh.base_url,
      KEY: partner.partner_key,
      EMULATOR_URL: mesh.emulator.url,
      POSITION: '0',
      EVENT_ID,
      MESSAGE_ID,
      KEY_ID,
    };
    const { stdout } = await run('bash', ['-c', PRELUDE + here(script, partner)], {
      env,
      // Some commands write files.
      cwd: folder,
      timeout: LIMIT_MS,
    });
    expect(stdout.match(/"success":false|"isError":true/g)).toBeNull();
    expect(stdout.length).toBeGreaterThan(20);
  },
  LIMIT_MS,
);

test('the JSON, the workflows and the rate card of the guides are accepted', () => {
  const texts = GUIDES.map(read);
  const json = texts.flatMap((text) => codeBlocks(text, 'json'));
  for (const block of json) expect(() => JSON.parse(block) as unknown).not.toThrow();
  const workflows = texts.flatMap((text) => codeBlocks(text, 'yaml'));
  expect(workflows.length).toBeGreaterThan(0);
  for (const block of workflows) {
    const { jobs } = load(block) as { jobs: Record<string, { steps: object[] }> };
    expect(Object.values(jobs)[0]?.steps.length).toBeGreaterThan(3);
  }
  const cards = texts.flatMap((text) => codeBlocks(text, 'csv'));
  expect(cards.map(readRateCard)).toEqual([
    expect.objectContaining({ currency: 'USD', rates: expect.any(Array) }),
  ]);
});

/** Beside commands and data: programs, and who runs them as printed. */
const PROGRAMS: Record<string, string> = {
  client: 'client-package.ts',
  embedding: '../e2e/connect-page-embed.e2e.test.ts',
  receiving: 'receiving.mesh.test.ts',
};

test('every sample of the guides is run or read by a test', () => {
  const languages = GUIDES.flatMap((name) =>
    [...read(name).matchAll(/^```(\w*)\n[\s\S]*?^```$/gm)].map(([, language]) => ({
      name,
      language,
    })),
  );
  const HERE = ['sh', 'json', 'yaml', 'csv'];
  const programs = languages.filter(({ language = '' }) => !HERE.includes(language));
  expect([...new Set(programs.map(({ name }) => name))].sort()).toEqual(Object.keys(PROGRAMS));
  for (const [name, test] of Object.entries(PROGRAMS)) {
    const source = readFileSync(resolve(__dirname, test), 'utf8');
    expect(source).toMatch(new RegExp(`guides/${name}\\.md|readPage\\(\\)`));
  }
});
