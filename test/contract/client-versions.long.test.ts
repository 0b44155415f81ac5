// The packed client under each version of Node that it names: the oldest and the newest. The
// binaries come from the package registry.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engines } from '../../gateway/client/package.json';
import { joinMesh, type Mesh } from '../harness/shared-mesh';
import { expectProgramWorks, installClient } from './client-package';

const run = promisify(execFile);

let mesh: Mesh;
let folder: string;
beforeAll(async () => {
  mesh = await joinMesh();
  folder = await mkdtemp(join(tmpdir(), 'bmg-client-'));
  await installClient(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mesh.stop();
});

/** Installs a binary of Node and returns its path. */
async function installNode(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const place = join(folder, `node-${version}`);
  const args = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    place,
    `${name}@${version}`,
  ];
  await run('npm', args, { cwd: folder });
  return join(place, 'node_modules', name, 'bin/node');
}

test.each([engines.node.replace('>=', ''), '24'])(
  'the program of the guide works under Node %s',
  async (version) => {
    const node = await installNode(version);
    const { stdout } = await run(node, ['--version']);
    expect(stdout).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}`));
    await expectProgramWorks(folder, mesh, node);
  },
);
