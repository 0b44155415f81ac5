// The client as its users have it: the package that `make build` makes, installed in a folder
// beside the program of its guide.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../package.json';
import { ONE } from '../harness/shared-mesh';
import type { GuideShell } from './guide-shell';
import { codeBlock } from './receiving/page';

const run = promisify(execFile);
const ROOT = resolve(__dirname, '../..');
const GUIDE = resolve(ROOT, 'gateway/docs/guides/client.md');
const PACKAGE = resolve(ROOT, `gateway/clients/dist/bmg-client-${version}.tgz`);
const RUN_LIMIT_MS = 120_000;

/** Unpacks the package and links its dependencies, as an installation would. */
export async function installClient(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules');
  const target = join(packages, '@bmg/client');
  await mkdir(target, { recursive: true });
  await run('tar', ['xzf', PACKAGE, '--strip-components=1', '-C', target]);
  expect(await readdir(join(target, 'dist'))).toEqual(
    expect.arrayContaining(['index.js', 'index.d.ts', 'schema.d.ts']),
  );
  for (const name of ['openapi-fetch', 'standardwebhooks']) {
    await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  }
  const program = codeBlock(readFileSync(GUIDE, 'utf8'), 'js', 'client.mjs');
  await writeFile(join(folder, 'client.mjs'), program.replaceAll('900000000000001', ONE.waba_id));
}

/** The guide's program, run by a Node, sends a text and reads its events. */
export async function expectProgramWorks(
  { folder, mesh, newPartner }: GuideShell,
  node: string,
): Promise<void> {
  const partner = await newPartner();
  const { stdout } = await run(node, ['client.mjs'], {
    cwd: folder,
    env: { BASE_URL: mesh.base_url, PARTNER_KEY: partner.partner_key },
    timeout: RUN_LIMIT_MS,
  });
  expectQuickStart(stdout);
}

/** The output of a client's quick start names the text that it sent, and the events of that. */
export function expectQuickStart(output: string): void {
  const [message_id, ...events] = output.trim().split('\n');
  expect(message_id).toMatch(/^wamid\./);
  // The registration has events too: contacts and old messages of the number.
  const names = events.map((line) => line.split(' ')[1] ?? '');
  expect(names.filter((name) => !/^contact|history$/.test(name))).toEqual([
    'message.sent',
    'message.delivered',
    'message.read',
  ]);
}
