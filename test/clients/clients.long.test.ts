// What every packed client has to do: keep the rules of all clients, run its quick start as
// printed, and send and read while the gateway is killed. BMG_CLIENTS=short leaves the kill out.
import { copyFile, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { version } from '../../package.json';
import { expectQuickStart } from '../contract/client-package';
import { joinProcessMesh, ONE, type ProcessMesh } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { lacks, run, tool, type Command as Program } from './commands';
import { casesOf, expectConforms } from './conformance';
import {
  Driver,
  installPacked,
  pack,
  type InstalledClient,
  type PackedClient,
} from './packed-client';

const OUTAGE_MS = 60_000;
const START_LIMIT_MS = 10 * 60_000;
const COUNT = 30;
const KILLED_AFTER = 10;
const REPORT_LIMIT_S = 150;
/** Enough attempts for an outage of minutes. */
const ATTEMPTS = 12;

const CLIENTS: readonly PackedClient[] = [
  {
    name: 'TypeScript',
    language: 'js',
    needs: ['npm'],
    quick_start: 'client.mjs',
    async install(folder, site) {
      await run(['npm', 'install', '--silent', `${site}/bmg-client-${version}.tgz`], folder);
      await copyFile(programOf('driver.mjs'), join(folder, 'driver.mjs'));
      return {
        start: [process.execPath, 'client.mjs'],
        driver: [process.execPath, join(folder, 'driver.mjs')],
      };
    },
  },
  {
    name: 'Python',
    language: 'python',
    needs: ['python3'],
    quick_start: 'client.py',
    async install(folder, site) {
      const [python] = await tool('python');
      const packages = join(folder, 'packages');
      const install = ['install', '--quiet', '--no-deps', '--target', packages];
      const wheel = `${site}/bmg_client-${version}-py3-none-any.whl`;
      await run([python, '-m', 'pip', ...install, wheel], folder);
      return {
        env: { PYTHONPATH: packages },
        start: [python, 'client.py'],
        driver: [python, programOf('driver.py')],
      };
    },
  },
  {
    name: 'Go',
    language: 'go',
    needs: ['go'],
    quick_start: 'client.go',
    async install(folder, site) {
      const name = `bmg-client-go-${version}`;
      await mkdir(join(folder, 'driver'));
      await copyFile(programOf('driver.go'), join(folder, 'driver/main.go'));
      const steps: Program[] = [
        ['curl', '-sfO', `${site}/${name}.tar.gz`],
        ['tar', 'xzf', `${name}.tar.gz`],
        ['go', 'mod', 'init', 'programs.example/test'],
        ...[
          ['-require', 'bmg.example/client@v0.0.0'],
          ['-replace', `bmg.example/client=./${name}`],
        ].map((option): Program => ['go', 'mod', 'edit', ...option]),
        ['go', 'mod', 'tidy'],
        ['go', 'build', '-o', 'driver/driver', './driver'],
      ];
      for (const step of steps) await run(step, folder);
      return { start: ['go', 'run', 'client.go'], driver: [join(folder, 'driver/driver')] };
    },
  },
  {
    name: 'Java',
    language: 'java',
    needs: ['java', 'mvn'],
    quick_start: 'Client.java',
    async install(folder, site, home) {
      const jar = `bmg-client-${version}.jar`;
      await run(['curl', '-sfO', `${site}/${jar}`], folder);
      const packages = join(folder, 'packages');
      const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
      const copy = [plugin, '-DincludeScope=runtime', `-DoutputDirectory=${packages}`];
      await run(['mvn', '-q', '-B', ...copy], home);
      const path = [join(folder, jar), join(packages, '*')].join(delimiter);
      return {
        start: ['java', '-cp', path, 'Client.java'],
        driver: ['java', '-cp', path, programOf('Driver.java')],
      };
    },
  },
];

const AVAILABLE = CLIENTS.filter(({ name, needs }) => !lacks(`The ${name} client`, needs));
const programOf = (file: string): string => join(__dirname, 'programs', file);
const isShort = process.env['BMG_CLIENTS'] === 'short';

let mesh: ProcessMesh;
let receiver: PartnerReceiver;
const installing = new Map<string, Promise<InstalledClient>>();
beforeAll(async () => {
  await pack(AVAILABLE);
  mesh = await joinProcessMesh();
  // The gateway reads the packages when it starts.
  await mesh.kill('gateway');
  await mesh.start('gateway');
  receiver = await startPartner();
  for (const client of AVAILABLE) {
    const installed = installPacked(client, new URL('/clients', mesh.base_url).href);
    installing.set(client.name, installed);
    // Its own tests report it.
    installed.catch(() => undefined);
  }
}, START_LIMIT_MS);
afterAll(async () => {
  await mesh?.stop();
  await receiver?.close();
}, START_LIMIT_MS);

for (const client of CLIENTS) {
  const { name } = client;
  (AVAILABLE.includes(client) ? describe : describe.skip)(`the ${name} client`, () => {
    let installed: InstalledClient;
    let driver: Driver;
    beforeAll(async () => {
      installed = (await installing.get(name)) as InstalledClient;
      driver = new Driver(installed);
    }, START_LIMIT_MS);
    afterAll(async () => {
      await driver?.stop();
      await installed?.remove();
    });

    test.each(casesOf(name).map((one) => [one.title, one] as const))('%s', (_title, one) =>
      expectConforms(one, (command) => driver.perform(command)),
    );

    const register = async () => {
      const partner = await mesh.createPartner(receiver.url);
      await partner.register(ONE);
      return partner;
    };

    test('its quick start sends a text and reads its events', async () => {
      const { partner_key } = await register();
      const env = { ...installed.env, BASE_URL: mesh.base_url, PARTNER_KEY: partner_key };
      expectQuickStart(await run(installed.start, join(installed.folder, 'start'), env));
    });

    if (isShort) return;
    test('misses no event and sends nothing twice while the gateway is killed', async () => {
      const { partner_key } = await register();
      const options = { base_url: mesh.base_url, partner_key };
      const { total } = await mesh.emulator.summary();
      const reader = new Driver(installed);
      const wanted = { of: 'message.sent', count: COUNT, limit_s: REPORT_LIMIT_S };
      // Single requests are not repeated: the sequence itself has to outlive the outage.
      const reading = reader.perform({ call: 'events', ...options, after: 0, ...wanted });
      const sent: string[] = [];
      let outage: Promise<void> | undefined;
      for (let number = 0; number < COUNT; number += 1) {
        const send = { call: 'send', waba_id: ONE.waba_id, text: `Number ${number}` };
        const { value } = await driver.perform({ ...send, ...options, attempts: ATTEMPTS });
        expect(value).toMatch(/^wamid\./);
        sent.push(value as string);
        if (number === KILLED_AFTER) outage = killGateway();
      }
      const { value } = await reading;
      await outage;
      await reader.stop();
      const { sequence, message_ids, interruptions } = value as Record<string, number[]> & {
        message_ids: string[];
        interruptions: number;
      };
      expect(interruptions).toBeGreaterThan(0);
      expect(new Set(sent).size).toBe(COUNT);
      expect((await mesh.emulator.summary()).total).toBe(total + COUNT);
      expect([...message_ids].sort()).toEqual([...sent].sort());
      const [first = 0] = sequence ?? [];
      expect(sequence).toEqual(sequence?.map((_, index) => first + index));
    });
  });
}

async function killGateway(): Promise<void> {
  await mesh.kill('gateway');
  await sleep(OUTAGE_MS);
  await mesh.start('gateway');
}
