// The packed client works: the program of the guide runs as printed, with the package that `npm pack`
// makes, against a mesh.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { JOIN_LIMIT_MS, joinMesh, ONE, type Mesh } from '../harness/shared-mesh';
import { codeBlock } from './receiving/page';

const run = promisify(execFile);
const ROOT = resolve(__dirname, '../..');
const GUIDE = resolve(ROOT, 'gateway/docs/guides/client.md');
const LIMIT_MS = 120_000;

let mesh: Mesh;
let folder: string;
beforeAll(async () => {
  mesh = await joinMesh();
  folder = await mkdtemp(join(tmpdir(), 'bmg-client-'));
}, JOIN_LIMIT_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mesh.stop();
}, 60_000);

/** Unpacks the package and links its dependencies, as an installation would. */
async function install(): Promise<void> {
  const packages = join(folder, 'node_modules');
  await mkdir(join(packages, '@bmg/client'), { recursive: true });
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--pack-destination', folder, '-w', '@bmg/client'],
    { cwd: ROOT },
  );
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: Array<{ path: string }> }];
  expect(packed.files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/schema.d.ts']),
  );
  const target = join(packages, '@bmg/client');
  await run('tar', ['xzf', join(folder, packed.filename), '--strip-components=1', '-C', target]);
  for (const name of ['openapi-fetch', 'standardwebhooks']) {
    await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  }
}

test(
  'the program of the guide sends a text and reads its events',
  async () => {
    await install();
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const program = codeBlock(readFileSync(GUIDE, 'utf8'), 'js', 'client.mjs');
    await writeFile(join(folder, 'client.mjs'), program.replaceAll('900000000000001', ONE.waba_id));
    const { stdout } = await run(process.execPath, ['client.mjs'], {
      cwd: folder,
      env: { BASE_URL: mesh.base_url, PARTNER_KEY: partner.partner_key },
      timeout: LIMIT_MS,
    });
    const [message_id, ...events] = stdout.trim().split('\n');
    expect(message_id).toMatch(/^wamid\./);
    // The registration has events too: contacts and old messages of the number.
    const names = events.map((line) => line.split(' ')[1] ?? '');
    expect(names.filter((name) => !/^contact|history$/.test(name))).toEqual([
      'message.sent',
      'message.delivered',
      'message.read',
    ]);
  },
  LIMIT_MS,
);
