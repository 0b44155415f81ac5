// The walk-through of deploy/local/README.md, line by line in a shell: its commands, with the
// addresses and IDs of this run's mesh. The sign-up is done in a real browser.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { ONE, TWO_A } from '../harness/shared-mesh';
import { BMG } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { openBrowser, stageOf } from './browser-stage';
import { openWindow, press } from './connect-browser';

const run = promisify(execFile);
const PAGE = readFileSync(resolve(__dirname, '../../deploy/local/README.md'), 'utf8');
const section = PAGE.slice(PAGE.indexOf('## Talk to the mesh'), PAGE.indexOf('## The engines'));
/** The commands of the section: continued lines joined, comments removed. */
const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split(/\n(?=curl|make|npx)/))
  .map((line) => line.replace(/ {2,}#.*$/m, '').trim());

const SIGN_UP_LIMIT_MS = 60_000;

let listener: ChildProcess;
let printed = '';

const stage = stageOf(openBrowser, {
  async leave() {
    if (listener?.exitCode !== null) return;
    listener.kill('SIGINT');
    await once(listener, 'exit');
  },
});

/** A command of the page for this run's mesh. */
const here = (command: string): string =>
  command
    .replaceAll('http://127.0.0.1:8080', new URL(stage.mesh.base_url).origin)
    .replaceAll('http://127.0.0.1:8090', stage.mesh.emulator.url)
    .replaceAll('900000000000001', ONE.waba_id)
    .replaceAll('800000000000001', ONE.phone_number_id)
    .replaceAll('EMULATED-TOKEN-1', ONE.access_token);

const says = (pattern: RegExp): Promise<string> =>
  eventually(() => {
    expect(printed).toMatch(pattern);
    return printed;
  });

test('the walk-through of the local mesh works line by line', async () => {
  const [up, listen, register, send, inbound, session, clients, down] = commands as [
    string,
    ...string[],
  ];
  expect([commands.length, up, listen, down]).toEqual([
    8,
    'make up',
    'npx bmg listen',
    'make down',
  ]);

  listener = spawn(process.execPath, [BMG, 'listen', '--port', '0'], {
    env: { PATH: process.env['PATH'], ONBOARDING_ADDR: stage.mesh.env['ONBOARDING_ADDR'] },
  });
  listener.stdout?.on('data', (chunk) => (printed += String(chunk)));
  const exported = /^export KEY=.*$/m.exec(await says(/listening at/))?.[0];
  const shell = async (command = ''): Promise<any> => {
    const { stdout } = await run('bash', ['-c', `${exported}\n${here(command)}`]);
    return JSON.parse(stdout);
  };

  expect(await shell(register)).toMatchObject({ success: true, client: { status: 'active' } });
  const { message_id } = await shell(send);
  for (const name of ['sent', 'delivered', 'read']) {
    await says(new RegExp(`message\\.${name} {3}signature ok, answered 200\\n.*${message_id}`));
  }
  expect(await shell(inbound)).toMatchObject({ delivered: true });
  await says(/message\.received {3}signature ok, answered 200\n.*Hi there/);

  const { connect_url } = await shell(session);
  const page = await stage.browser.newPage();
  await page.goto(connect_url);
  const button = page.getByRole('button', { name: /connect my number/i });
  const dialog = await openWindow(page, () => button.click());
  await dialog.selectOption('#account', TWO_A.waba_id);
  await press(dialog, '#finish');
  await page.getByText(/is connected/).waitFor({ timeout: SIGN_UP_LIMIT_MS });
  const { clients: connected } = await shell(clients);
  expect(connected.map((one: { waba_id: string }) => one.waba_id)).toContain(TWO_A.waba_id);
});
