import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../../../test/testkit/eventually';
import { findPid, isOurs, launch, logSince, logTail, pidFile, stopProcess } from './processes';

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-processes-'));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const start = (script: string) =>
  launch({
    dir,
    name: 'worker',
    command: process.execPath,
    args: ['-e', script, 'marker-of-the-worker'],
    cwd: dir,
    env: {},
  });
const marker = 'marker-of-the-worker';
const stop = (lines: string[] = []) =>
  stopProcess({ dir, name: 'worker', marker, limit_ms: 300, log: (line) => lines.push(line) });

test('finds a launched process by its pid until it is stopped', async () => {
  const { pid } = await start('setInterval(() => {}, 1000)');
  expect(fs.readFileSync(pidFile(dir, 'worker'), 'utf8')).toBe(`${pid}\n`);
  expect(findPid(dir, 'worker', marker)).toBe(pid);
  expect(await stop()).toBe(true);
  expect(isOurs(pid, marker)).toBe(false);
  expect(fs.existsSync(pidFile(dir, 'worker'))).toBe(false);
  expect(await stop()).toBe(false);
});

test('removes a pid file whose pid another process reuses, and does not signal that process', async () => {
  // The test's own process plays the other process: a signal would end the test.
  fs.writeFileSync(pidFile(dir, 'worker'), `${process.pid}\n`);
  expect(await stop()).toBe(false);
  expect(fs.existsSync(pidFile(dir, 'worker'))).toBe(false);
});

test('a copy of the folder neither finds nor stops the processes of the original', async () => {
  const { pid } = await start('setInterval(() => {}, 1000)');
  const copy = `${dir}-copy`;
  fs.cpSync(dir, copy, { recursive: true, preserveTimestamps: true });
  try {
    expect(await stopProcess({ dir: copy, name: 'worker', marker, log: () => {} })).toBe(false);
    expect(fs.existsSync(pidFile(copy, 'worker'))).toBe(false);
    expect(findPid(dir, 'worker', marker)).toBe(pid);
  } finally {
    await stop();
    fs.rmSync(copy, { recursive: true });
  }
});

test('a process with the same command line that started at another time is not ours', async () => {
  const first = await start('setInterval(() => {}, 1000)');
  const owner = fs.readFileSync(path.join(dir, 'worker.owner'), 'utf8');
  await stop();
  expect(fs.readdirSync(dir)).toEqual(['worker.log']);
  const second = await start('setInterval(() => {}, 1000)');
  expect(second.pid).not.toBe(first.pid);
  try {
    fs.writeFileSync(path.join(dir, 'worker.owner'), owner);
    expect(await stop()).toBe(false);
    expect(isOurs(second.pid, marker)).toBe(true);
  } finally {
    process.kill(second.pid);
  }
});

test('finds a process that an earlier release started, which has no owner file', async () => {
  const { pid } = await start('setInterval(() => {}, 1000)');
  fs.rmSync(path.join(dir, 'worker.owner'));
  expect(findPid(dir, 'worker', marker)).toBe(pid);
  expect(await stop()).toBe(true);
});

test.each(['', 'nonsense', '0', '1', '-1', '999999999'])('a pid file with %j is stale', (text) => {
  fs.writeFileSync(pidFile(dir, 'worker'), text);
  expect(findPid(dir, 'worker', '')).toBeUndefined();
  expect(fs.existsSync(pidFile(dir, 'worker'))).toBe(false);
});

test('kills a process that ignores SIGTERM, and logs it', async () => {
  const script = `process.on('SIGTERM', () => {}); console.log('deaf'); setInterval(() => {}, 1000)`;
  const { pid, logFile } = await start(script);
  await eventually(() => logSince(logFile).includes('deaf'));
  const lines: string[] = [];
  await stop(lines);
  expect(lines).toEqual([`worker (pid ${pid}) did not stop within 0 s: killed`]);
  expect(isOurs(pid, marker)).toBe(false);
});

test('the error about a missing program names its process', async () => {
  const missing = { dir, name: 'worker', command: '/nowhere/program', args: [], cwd: dir, env: {} };
  await expect(launch(missing)).rejects.toThrow(/^failed to start worker: .*ENOENT/);
});

test('reads a log from the start of the current run', () => {
  const file = path.join(dir, 'worker.log');
  fs.writeFileSync(file, 'an earlier run\n');
  const from = fs.statSync(file).size;
  fs.appendFileSync(file, Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join(''));
  expect(logSince(file, from)).not.toContain('earlier');
  expect(logTail(file, from).split('\n')).toHaveLength(12);
  expect(logTail(file, from)).toMatch(/^ {2}line 8\n[^]*\n {2}line 19$/);
});
