// What every packed client has to do: pass its own tests, run its quick start as printed, and send
// and read while the gateway is killed. BMG_CLIENTS=long keeps the gateway down for a minute.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeBlock } from '../contract/receiving/page';
import { joinProcessMesh, ONE, type ProcessMesh } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { lacks, run, type Command } from './commands';

const CLIENTS = resolve(__dirname, '../../gateway/clients');
export const CLIENT_GUIDE = resolve(CLIENTS, '../docs/guides/client.md');
const GENERATE = join(CLIENTS, 'generate.mjs');
const OUTAGE_MS = process.env['BMG_CLIENTS'] === 'long' ? 60_000 : 10_000;
const START_LIMIT_MS = 10 * 60_000;
const COUNT = 30;
const KILLED_AFTER = 10;
const REPORT_LIMIT_S = '90';

export interface PackedClient {
  /** The name in the titles of the tests. */
  name: string;
  /** The folder of its sources. */
  home: string;
  /** Makes the package; absent if `install` does. */
  pack?: Command;
  /** Programs that the machine has to have. */
  needs: readonly string[];
  /** The file and the language of its quick start, which each of these pages shows. */
  quick_start: string;
  language: string;
  pages: readonly string[];
  /**
   * Installs the package in the folder, where `start/` has the quick start, and builds what has to
   * be built.
   */
  install(folder: string): Promise<InstalledClient>;
}

export interface InstalledClient {
  /** Environment of its programs. */
  env: NodeJS.ProcessEnv;
  /** Runs its tests in its home. */
  tests: Command;
  /** Runs the quick start in `start/`. */
  start: Command;
  /** Runs `programs/survive.*`. */
  survive: Command;
}

/** What a surviving program reports in the end. */
interface Survived {
  sent: string[];
  reported: string[];
  sequence: number[];
  interruptions: number;
}

/**
 * A client of gateway/clients: `make clients` makes it, and its README and the guide show its quick
 * start.
 */
export const generatedClient = (language: string) => ({
  language,
  home: join(CLIENTS, language),
  pack: [process.execPath, GENERATE, language, '--pack'] as const,
  pages: [join(CLIENTS, language, 'README.md'), CLIENT_GUIDE],
});

export function describePackedClient(client: PackedClient): void {
  const { name, home, needs, quick_start } = client;
  (lacks(`The ${name} client`, needs) ? describe.skip : describe)(`the ${name} client`, () => {
    let mesh: ProcessMesh;
    let receiver: PartnerReceiver;
    let folder: string;
    let installed: InstalledClient;
    let env: NodeJS.ProcessEnv;

    beforeAll(async () => {
      if (client.pack) await run(client.pack, home);
      folder = await mkdtemp(join(tmpdir(), `bmg-${client.language}-`));
      await mkdir(join(folder, 'start'));
      const program = await quickStart(client);
      await writeFile(
        join(folder, 'start', quick_start),
        program.replaceAll('900000000000001', ONE.waba_id),
      );
      installed = await client.install(folder);
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
        ...installed.env,
        BASE_URL: mesh.base_url,
        PARTNER_KEY: partner.partner_key,
        WABA_ID: ONE.waba_id,
        COUNT: String(COUNT),
        LIMIT_S: REPORT_LIMIT_S,
      };
    });

    test('passes its own tests', () => run(installed.tests, home, env));

    test('its quick start sends a text and reads its events', async () => {
      const output = await run(installed.start, join(folder, 'start'), env);
      const [message_id, ...events] = output.trim().split('\n');
      expect(message_id).toMatch(/^wamid\./);
      const names = events.map((line) => line.split(' ')[1] ?? '');
      // The registration has events too: contacts and old messages of the number.
      expect(names.filter((one) => !/^contact|history$/.test(one))).toEqual([
        'message.sent',
        'message.delivered',
        'message.read',
      ]);
    });

    test('misses no event and sends nothing twice while the gateway is killed', async () => {
      const { total } = await mesh.emulator.summary();
      const result = await survive(installed.survive, env, mesh);
      expect(result.interruptions).toBeGreaterThan(0);
      expect(new Set(result.sent).size).toBe(COUNT);
      expect((await mesh.emulator.summary()).total).toBe(total + COUNT);
      expect(result.reported).toEqual([...result.sent].sort());
      const [first = 0] = result.sequence;
      expect(result.sequence).toEqual(result.sequence.map((_, index) => first + index));
    });
  });
}

/** The quick start, which all of its pages show alike. */
async function quickStart({ pages, language, quick_start }: PackedClient): Promise<string> {
  const programs = await Promise.all(
    pages.map(async (page) => codeBlock(await readFile(page, 'utf8'), language, quick_start)),
  );
  expect(new Set(programs).size).toBe(1);
  return programs[0] as string;
}

/** Runs the program, and kills the gateway once it has sent some texts. */
async function survive(
  [program, ...args]: Command,
  env: NodeJS.ProcessEnv,
  mesh: ProcessMesh,
): Promise<Survived> {
  const running = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(running, 'exit');
  let last = '';
  for await (const line of createInterface({ input: running.stdout })) {
    last = line;
    if (line !== `sent ${KILLED_AFTER}`) continue;
    await mesh.kill('gateway');
    await sleep(OUTAGE_MS);
    await mesh.start('gateway');
  }
  expect(await ended).toEqual([0, null]);
  return JSON.parse(last) as Survived;
}
