// The commands of the guides work: each page's run in a shell, one after the other, against a mesh. The
// programs of the pages on events and on the sign-up have tests of their own.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { load } from '../helm/yaml';
import { JOIN_LIMIT_MS, joinMesh, ONE, type Mesh } from '../harness/shared-mesh';
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

const here = (script: string): string =>
  script
    .replaceAll('900000000000001', ONE.waba_id)
    .replaceAll('800000000000001', ONE.phone_number_id)
    .replaceAll('EMULATED-TOKEN-1', ONE.access_token);

const scripts = GUIDES.map((name): [string, string] => [
  name,
  codeBlocks(read(name), 'sh').join('\n'),
]).filter(([, script]) => script !== '');

test.each(scripts)(
  'the commands of %s succeed',
  async (name, script) => {
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      BASE_URL: mesh.base_url,
      KEY: partner.partner_key,
      EMULATOR_URL: mesh.emulator.url,
      POSITION: '0',
      EVENT_ID: 'none',
    };
    if (name === 'receiving') {
      // The event that the page retries by hand does not exist here.
      script = script.replace(/^curl.*\$EVENT_ID.*$/m, '');
    }
    const { stdout } = await run('bash', ['-c', PRELUDE + here(script)], {
      env,
      // Some commands write files.
      cwd: folder,
      timeout: LIMIT_MS,
    });
    expect(stdout.match(/"success":false/g)).toBeNull();
    expect(stdout.length).toBeGreaterThan(20);
  },
  LIMIT_MS,
);

test('the JSON and the workflows of the guides parse', () => {
  const texts = GUIDES.map(read);
  const json = texts.flatMap((text) => codeBlocks(text, 'json'));
  for (const block of json) expect(() => JSON.parse(block) as unknown).not.toThrow();
  const workflows = texts.flatMap((text) => codeBlocks(text, 'yaml'));
  expect(workflows.length).toBeGreaterThan(0);
  for (const block of workflows) {
    const { jobs } = load(block) as { jobs: Record<string, { steps: object[] }> };
    expect(Object.values(jobs)[0]?.steps.length).toBeGreaterThan(3);
  }
});
