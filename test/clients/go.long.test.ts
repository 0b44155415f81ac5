// The packed Go client.
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../../package.json';
import { run, type Command } from './commands';
import { describePackedClient, generatedClient } from './packed-client';

const NAME = `bmg-client-go-${version}`;

const client = generatedClient('go');

describePackedClient({
  ...client,
  name: 'Go',
  needs: ['go'],
  quick_start: 'client.go',
  async install(folder) {
    expect(await readdir(join(client.home, 'dist'))).toEqual([`${NAME}.tar.gz`]);
    await mkdir(join(folder, 'survive'));
    await copyFile(join(__dirname, 'programs/survive.go'), join(folder, 'survive/main.go'));
    const replace = `bmg.example/client=./${NAME}`;
    const steps: Command[] = [
      ['tar', 'xzf', join(client.home, 'dist', `${NAME}.tar.gz`)],
      ['go', 'mod', 'init', 'programs.example/test'],
      ['go', 'mod', 'edit', '-require', 'bmg.example/client@v0.0.0', '-replace', replace],
      ['go', 'mod', 'tidy'],
      ['go', 'build', '-o', 'survive/survive', './survive'],
    ];
    for (const step of steps) await run(step, folder);
    return {
      env: {},
      tests: ['go', 'test', '.'],
      start: ['go', 'run', 'client.go'],
      survive: [join(folder, 'survive/survive')],
    };
  },
});
