// The packed client under each version of Node that it names: the oldest and the newest. The
// binaries come from the package registry.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engines } from '../../gateway/client/package.json';
import { expectProgramWorks, installClient } from './client-package';
import { useGuideShell } from './guide-shell';

const run = promisify(execFile);

const shell = useGuideShell();
beforeAll(() => installClient(shell.folder));

/** Installs a binary of Node and returns its path. */
async function installNode(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const place = join(shell.folder, `node-${version}`);
  const args = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    place,
    `${name}@${version}`,
  ];
  await run('npm', args, { cwd: shell.folder });
  return join(place, 'node_modules', name, 'bin/node');
}

test.each([engines.node.replace('>=', ''), '24'])(
  'the program of the guide works under Node %s',
  async (version) => {
    const node = await installNode(version);
    const { stdout } = await run(node, ['--version']);
    expect(stdout).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}`));
    await expectProgramWorks(shell, node);
  },
);
