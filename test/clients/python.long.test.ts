// The packed Python client.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../../package.json';
import { run, tool } from './commands';
import { describePackedClient, generatedClient } from './packed-client';

const client = generatedClient('python');

describePackedClient({
  ...client,
  name: 'Python',
  needs: ['python3'],
  quick_start: 'client.py',
  async install(folder) {
    const [python] = await tool('python');
    const [wheel = ''] = await readdir(join(client.home, 'dist'));
    expect(wheel).toBe(`bmg_client-${version}-py3-none-any.whl`);
    const packages = join(folder, 'packages');
    const install = ['install', '--quiet', '--no-deps', '--target', packages];
    await run([python, '-m', 'pip', ...install, join(client.home, 'dist', wheel)], folder);
    return {
      env: { PYTHONPATH: packages },
      tests: [python, '-m', 'unittest', 'discover', '-s', 'tests'],
      start: [python, 'client.py'],
      survive: [python, join(__dirname, 'programs/survive.py')],
    };
  },
});
