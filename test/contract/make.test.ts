// The make targets that people wait for print their progress: `make --dry-run` shows their commands
// in order.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

const commandsOf = (target: string): string[] =>
  execFileSync('make', ['--dry-run', target], {
    cwd: ROOT,
    encoding: 'utf8',
    // The flags of a make that runs this test are left out.
    env: { PATH: process.env['PATH'] },
  }).split('\n');

test('make check names each check before it runs', () => {
  const commands = commandsOf('check');
  const checks = {
    'format ...': 'prettier --check',
    'lint ...': 'eslint ',
    'imports ...': 'depcruise ',
    'words ...': 'cspell ',
    'types of the tests ...': 'tsc -p tsconfig.tests.json',
    'protos ...': 'buf lint',
    'documents ...': 'jest --selectProjects documents',
  };
  const at = (text: string): number => commands.findIndex((line) => line.includes(text));
  const places = Object.entries(checks).flatMap(([name, command]) => [
    at(`echo '${name}'`),
    at(command),
  ]);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

test('make up and make demo print that they compile before they start to', () => {
  for (const target of ['up', 'demo']) {
    const commands = commandsOf(target);
    const compiler = commands.findIndex((line) => line.endsWith('tsc -b'));
    expect(commands[compiler - 1]).toBe("echo 'compiling ...'");
  }
});
