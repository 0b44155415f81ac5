// A real Redis: the machine's redis-server if it has one, else a binary from a jar.
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ask, type Engine } from './engine';
import { LocalError } from './errors';
import { readJar, requireJars } from './jars';
import { DOWNLOADS } from './paths';
import { HOST } from './ports';
import { findProgram } from './tools';

const run = promisify(execFile);
const TRY_LIMIT_MS = 10_000;
const WANTED = {
  what: 'the local Redis',
  instead: 'set REDIS_URL, or have redis-server on the PATH',
};

/**
 * Entries of embedded-redis-1.4.3.jar, in order of preference. The 64-bit binary for Linux needs
 * OpenSSL 3; the 32-bit one has no dependencies.
 */
const BINARIES: Record<string, string[]> = {
  'linux-x64': ['redis-server-6.2.6-v5-linux-amd64', 'redis-server-6.2.7-linux-386'],
  'linux-arm64': ['redis-server-6.2.7-linux-arm64'],
  'darwin-x64': ['redis-server-6.2.6-v5-darwin-amd64'],
  'darwin-arm64': ['redis-server-6.2.6-v5-darwin-arm64'],
};

export const redis: Engine = {
  name: 'redis',
  setting: 'REDIS_URL',
  portSetting: 'REDIS_PORT',
  defaultPort: 6379,
  url: (port) => `redis://${HOST}:${port}`,
  // Redis replaces its command line with a title without the folder: `redis-server 127.0.0.1:6379`.
  marker: () => 'redis-server',

  async prepare({ data, port, env, log }) {
    const own = findProgram('redis-server', env);
    const command = own ?? (await unpack(await requireJars(env, WANTED, log)));
    return {
      title: own ? `Redis (${own})` : 'Redis',
      command,
      args: [
        ...['--port', String(port), '--bind', HOST, '--daemonize', 'no'],
        // Every write is in the file before it is answered, so a killed Redis comes back with all
        // of them. It does not call fsync, because commands would wait for a slow one.
        ...['--appendonly', 'yes', '--appendfsync', 'no', '--save', '', '--dir', data],
      ],
    };
  },

  // While it loads its data it answers with an error, which is not yet ready.
  answers: (port) =>
    ask(port, Buffer.from('PING\r\n'), (bytes) =>
      bytes.includes('\n') ? bytes.toString('latin1').startsWith('+PONG') : undefined,
    ),
};

/** Taken out of the jar once, under its versioned name's folder, and tried before it is used. */
export async function unpack(lib: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  for (const entry of BINARIES[platform] ?? []) {
    const file = path.join(DOWNLOADS, 'bin', entry, 'redis-server');
    if (!fs.existsSync(file)) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      const fresh = `${file}.${process.pid}`;
      fs.writeFileSync(fresh, readJar(lib, 'embedded-redis-', entry), { mode: 0o755 });
      fs.renameSync(fresh, file);
    }
    if (await starts(file)) return file;
  }
  throw new LocalError(
    `there is no Redis in the jars that runs on ${platform}: install redis-server, or set REDIS_URL`,
  );
}

async function starts(file: string): Promise<boolean> {
  try {
    await run(file, ['--version'], { timeout: TRY_LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}
