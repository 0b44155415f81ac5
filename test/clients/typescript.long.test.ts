// The packed TypeScript client.
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { installClient } from '../contract/client-package';
import { CLIENT_GUIDE, describePackedClient } from './packed-client';

const ROOT = resolve(__dirname, '../..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const CONFIG = join(ROOT, 'jest.config.js');
const SOURCES = ['--testPathPatterns', 'gateway/client/src/'];

describePackedClient({
  name: 'TypeScript',
  language: 'js',
  home: join(ROOT, 'gateway/client'),
  pages: [CLIENT_GUIDE],
  needs: ['npm'],
  quick_start: 'client.mjs',
  async install(folder) {
    await installClient(folder);
    await copyFile(join(__dirname, 'programs/survive.mjs'), join(folder, 'survive.mjs'));
    return {
      env: {},
      tests: [process.execPath, JEST, '--config', CONFIG, '--selectProjects', 'unit', ...SOURCES],
      start: [process.execPath, 'client.mjs'],
      survive: [process.execPath, join(folder, 'survive.mjs')],
    };
  },
});
