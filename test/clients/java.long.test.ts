// The packed Java client.
import { copyFile, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { version } from '../../package.json';
import { run } from './commands';
import { describePackedClient, generatedClient } from './packed-client';

const JAR = `bmg-client-${version}.jar`;
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';

const client = generatedClient('java');

describePackedClient({
  ...client,
  name: 'Java',
  needs: ['java', 'mvn'],
  quick_start: 'Client.java',
  async install(folder) {
    expect(await readdir(join(client.home, 'dist'))).toEqual([JAR]);
    const packages = join(folder, 'packages');
    const copy = [`${PLUGIN}:copy-dependencies`, '-DincludeScope=runtime'];
    await run(['mvn', '-q', '-B', ...copy, `-DoutputDirectory=${packages}`], client.home);
    await copyFile(join(client.home, 'dist', JAR), join(folder, JAR));
    const path = [join(folder, JAR), join(packages, '*')].join(delimiter);
    return {
      env: {},
      tests: ['mvn', '-q', '-B', 'test'],
      start: ['java', '-cp', path, 'Client.java'],
      survive: ['java', '-cp', path, join(__dirname, 'programs/Survive.java')],
    };
  },
});
