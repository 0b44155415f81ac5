// The packed Python client: its tests, the quick start of its README as printed, and a program that sends and reads
// while the gateway is killed. BMG_CLIENTS=long keeps the gateway down for a minute.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { version } from '../../package.json';
import { codeBlock } from '../contract/receiving/page';
import { joinProcessMesh, ONE, type ProcessMesh } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { lacks, run, tool } from './commands';

const HOME = resolve(__dirname, '../../gateway/clients/python');
const GUIDE = resolve(HOME, '../../docs/guides/client.md');
const GENERATE = resolve(HOME, '../generate.mjs');
const OUTAGE_MS = process.env['BMG_CLIENTS'] === 'long' ? 60_000 : 10_000;
const START_LIMIT_MS = 5 * 60_000;
const LIMIT_MS = 5 * 60_000;
const COUNT = 30;
const KILLED_AFTER = 10;
const REPORT_LIMIT_S = '90';

(lacks('The Python client', ['python3']) ? describe.skip : describe)('the Python client', () => {
  let mesh: ProcessMesh;
  let receiver: PartnerReceiver;
  let folder: string;
  let python: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    await run([process.execPath, GENERATE, 'python', '--pack'], HOME);
    [python] = await tool('python');
    folder = await mkdtemp(join(tmpdir(), 'bmg-python-'));
    const [wheel = ''] = await readdir(join(HOME, 'dist'));
    expect(wheel).toBe(`bmg_client-${version}-py3-none-any.whl`);
    const install = ['install', '--quiet', '--no-deps', '--target', join(folder, 'packages')];
    await run([python, '-m', 'pip', ...install, join(HOME, 'dist', wheel)], folder);
    mesh = await joinProcessMesh();
    receiver = await startPartner();
  }, START_LIMIT_MS);
  afterAll(async () => {
    await mesh?.stop();
    await receiver?.close();
    await rm(folder, { recursive: true, force: true });
  }, START_LIMIT_MS);
  beforeEach(async () => {
    const partner = await mesh.createPartner(receiver.url);
    await partner.register(ONE);
    env = {
      PYTHONPATH: join(folder, 'packages'),
      BASE_URL: mesh.base_url,
      PARTNER_KEY: partner.partner_key,
      WABA_ID: ONE.waba_id,
      COUNT: String(COUNT),
      LIMIT_S: REPORT_LIMIT_S,
    };
  }, LIMIT_MS);

  test(
    'passes its own tests',
    () => run([python, '-m', 'unittest', 'discover', '-s', 'tests'], HOME, env),
    LIMIT_MS,
  );

  test(
    'the quick start of its README sends a text and reads its events',
    async () => {
      const page = await readFile(join(HOME, 'README.md'), 'utf8');
      const program = codeBlock(page, 'python', 'client.py');
      expect(codeBlock(await readFile(GUIDE, 'utf8'), 'python', 'client.py')).toBe(program);
      await writeFile(
        join(folder, 'client.py'),
        program.replaceAll('900000000000001', ONE.waba_id),
      );
      const output = await run([python, 'client.py'], folder, env);
      const [message_id, ...events] = output.trim().split('\n');
      expect(message_id).toMatch(/^wamid\./);
      const names = events.map((line) => line.split(' ')[1] ?? '');
      // The registration has events too: contacts and old messages of the number.
      expect(names.filter((name) => !/^contact|history$/.test(name))).toEqual([
        'message.sent',
        'message.delivered',
        'message.read',
      ]);
    },
    LIMIT_MS,
  );

  test(
    'misses no event and sends nothing twice while the gateway is killed',
    async () => {
      const { total } = await mesh.emulator.summary();
      const program = spawn(python, [join(__dirname, 'programs/survive.py')], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(program, 'exit');
      let last = '';
      for await (const line of createInterface({ input: program.stdout })) {
        last = line;
        if (line !== `sent ${KILLED_AFTER}`) continue;
        await mesh.kill('gateway');
        await sleep(OUTAGE_MS);
        await mesh.start('gateway');
      }
      expect(await ended).toEqual([0, null]);
      const result = JSON.parse(last) as {
        sent: string[];
        reported: string[];
        sequence: number[];
        interruptions: number;
      };
      expect(result.interruptions).toBeGreaterThan(0);
      expect(new Set(result.sent).size).toBe(COUNT);
      expect((await mesh.emulator.summary()).total).toBe(total + COUNT);
      expect(result.reported).toEqual([...result.sent].sort());
      const [first = 0] = result.sequence;
      expect(result.sequence).toEqual(result.sequence.map((_, index) => first + index));
    },
    LIMIT_MS,
  );
});
