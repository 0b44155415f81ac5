// The commands of the guides work: each page's run in a shell, one after the other, against a mesh.
// The programs of the pages on events and on the sign-up have tests of their own.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { readRateCard } from '../../services/messaging/src/pricing/rate-card';
import { load } from '../testkit/yaml';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { translate } from '../../gateway/src/docs/samples';
import { createBroadcast, detailOf, people } from '../e2e/broadcast-support';
import { setIn } from '../e2e/stored';
import { eventually } from '../testkit/eventually';
import { GUIDES_FOLDER, readGuide, runCommands, runTranslated, useGuideShell } from './guide-shell';
import { codeBlocks } from './receiving/page';

const GUIDES = readdirSync(GUIDES_FOLDER).map((name) => basename(name, '.md'));
const CUSTOMER = '15550100777';

const shell = useGuideShell();

let approved = 0;

/** The ID of an event that the partner's receiver has refused for good. */
async function refusedEvent({ receiver, call }: TestPartner): Promise<string> {
  receiver.behave((_arrival, response) => void response.writeHead(410).end());
  await shell.mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
  const event_id = await eventually(async () => {
    const { body } = await call('GET', '/webhooks/failed?status=failed');
    const events = body.events as Array<{ event: string; event_id: string }>;
    return events.find(({ event }) => event === 'message.received')?.event_id;
  });
  receiver.behave(undefined);
  return event_id;
}

/** A blocked customer would write to no partner of the number any more. */
const unblock = ({ call }: TestPartner) =>
  call('DELETE', '/blocked', { users: [CUSTOMER] }, { 'x-waba-id': ONE.waba_id });

async function sentMessage({ call }: TestPartner): Promise<string> {
  const body = { to: CUSTOMER, text: 'Hi' };
  const answer = await call('POST', '/messages/send', body, { 'x-waba-id': ONE.waba_id });
  return answer.body.message_id as string;
}

/** The ID of a customer's call that rings. */
async function ringingCall({ call }: TestPartner): Promise<string> {
  const calling = { calling: { status: 'ENABLED' } };
  await call('POST', '/settings', calling, { 'x-waba-id': ONE.waba_id });
  const { phone_number_id } = ONE;
  return (await shell.mesh.emulator.inboundCall({ phone_number_id })).call_id;
}

async function createdKey({ call }: TestPartner): Promise<string> {
  const { body } = await call('POST', '/keys', { name: 'Orders', scopes: ['read'] });
  return body.key.key_id as string;
}

/** A person sets it in the console. */
const listOrigin = ({ partner_id }: TestPartner): Promise<void> =>
  setIn(shell.mesh, 'onboarding', 'partners', partner_id, {
    connect_origins: ['https://shop.example.com'],
  });

/** The ID of a broadcast that takes a quarter of a minute more. */
async function runningBroadcast(partner: TestPartner): Promise<string> {
  const id = await createBroadcast(partner, ONE, people(300));
  await eventually(async () => (await detailOf(partner, id)).status === 'processing');
  return String(id);
}

/** Can be changed, once. */
async function approvedTemplate(): Promise<string> {
  const name = `news_${(approved += 1)}`;
  return (await shell.mesh.emulator.template({ waba_id: ONE.waba_id, name })).id;
}

/** What is left of it would be sent beside the next samples. */
async function endBroadcast({ call }: TestPartner, id: string): Promise<void> {
  const headers = { 'x-waba-id': ONE.waba_id };
  for (const change of ['pause', 'cancel']) {
    await call('POST', `/broadcasts/${id}/${change}`, undefined, headers);
  }
}

/** A partner with what the commands use, and the variables that name it. */
async function stageFor(
  script: string,
): Promise<{ partner: TestPartner; env: Record<string, string>; clear(): Promise<void> }> {
  const partner = await shell.newPartner();
  await shell.mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: CUSTOMER });
  if (script.includes('success_url')) await listOrigin(partner);
  const env: Record<string, string> = { POSITION: '0', BACKUP_AT: new Date().toISOString() };
  for (const [name, make] of Object.entries(MADE)) {
    if (script.includes(name)) env[name] = await make(partner);
  }
  return {
    partner,
    env,
    async clear() {
      if (env['BROADCAST_ID']) await endBroadcast(partner, env['BROADCAST_ID']);
      if (script.includes('/blocked')) await unblock(partner);
    },
  };
}

const MADE: Readonly<Record<string, (partner: TestPartner) => Promise<string>>> = {
  EVENT_ID: refusedEvent,
  CALL_ID: ringingCall,
  KEY_ID: createdKey,
  TEMPLATE_ID: approvedTemplate,
  MESSAGE_ID: sentMessage,
  BROADCAST_ID: runningBroadcast,
};

const scripts = GUIDES.map((name): [string, string] => [
  name,
  codeBlocks(readGuide(name), 'sh').join('\n'),
]).filter(([, script]) => script !== '');

test.each(scripts)('the commands of %s succeed', async (_name, script) => {
  const { partner, env, clear } = await stageFor(script);
  const stdout = await runCommands(script, { ...shell, partner, env });
  await clear();
  expect(stdout.match(/"success":false|"isError":true/g)).toBeNull();
  expect(stdout.length).toBeGreaterThan(20);
});

/** The samples that readers can have in other languages. */
const translated = GUIDES.flatMap((name) =>
  codeBlocks(readGuide(name), 'sh').flatMap((script) => {
    const samples = translate(script);
    return samples ? [{ name, samples }] : [];
  }),
);
/** Counts the samples that have only curl commands. */
const TRANSLATED_MIN = 30;

test('most samples can be read in other languages', () => {
  expect(translated.length).toBeGreaterThanOrEqual(TRANSLATED_MIN);
});

test.each(['node', 'python'] as const)('every sample succeeds in %s too', async (language) => {
  for (const { name, samples } of translated) {
    const { partner, env, clear } = await stageFor(samples.node);
    // A template is created once.
    const code = samples[language].replaceAll('order_shipped', `order_shipped_${language}`);
    const stdout = await runTranslated(language, code, { ...shell, partner, env });
    await clear();
    if (stdout === undefined) return;
    expect([name, stdout.match(/success['"]?: (?:false|False)/g)]).toEqual([name, null]);
    expect(stdout).toMatch(/success|status/);
  }
});

test('the JSON, the workflows and the rate card of the guides are accepted', () => {
  const texts = GUIDES.map(readGuide);
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
  agents: '../e2e/mcp-questions.e2e.test.ts',
  client: 'client-package.ts',
  embedding: '../e2e/connect-page-embed.browser.test.ts',
  receiving: 'receiving.mesh.test.ts',
};

test('every sample of the guides is run or read by a test', () => {
  const languages = GUIDES.flatMap((name) =>
    [...readGuide(name).matchAll(/^```(\w*)\n[\s\S]*?^```$/gm)].map(([, language]) => ({
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
