// The mesh of the compose files, from the same images, without the cluster: its start and the first
// message.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, untilHealthy } from '../chaos/ask';
import { eventually } from '../testkit/eventually';
import { seededNumbers } from '../testkit/rest';
import { load } from '../testkit/yaml';
import { docker, dockerEnvironment } from './docker';
import { ROOT, STATE } from './facts';
import { meshTags } from './images';
import { ENGINES } from './release';
import { isInstalled, run, stopwatch } from './run';

const FOLDER = join(ROOT, 'deploy');
const PROJECT = 'bmg-compose-test';
const BASE_URL = 'http://127.0.0.1:8080/v1';
const UP_LIMIT_MS = 300_000;
const HEALTHY_LIMIT_MS = 180_000;
const READ_LIMIT_MS = 60_000;
const WITH_DATABASE = [
  'onboarding',
  'messaging',
  'templates',
  'broadcasts',
  'number-admin',
  'webhooks',
];
/** Kept off: their images cannot be made here, and the mesh works without them. */
const PARTS = [
  ...Object.keys(ENGINES),
  ...WITH_DATABASE,
  ...['destinations', 'fanout', 'gateway', 'emulator'],
];

/**
 * The engines of this machine have neither the clients for their health checks nor folders of their
 * users, and the stand-in for MongoDB is no replica set.
 */
function engineChanges(): string {
  const services = Object.fromEntries(
    Object.entries(ENGINES).map(([name, port]) => [
      name,
      {
        user: '0:0',
        healthcheck: { test: ['CMD', 'bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`] },
      },
    ]),
  );
  const databases = Object.fromEntries(
    WITH_DATABASE.map((name) => [
      name,
      { environment: { MONGO_URL: 'mongodb://mongo:27017/?directConnection=true' } },
    ]),
  );
  mkdirSync(STATE, { recursive: true });
  const file = join(STATE, 'compose-engines.json');
  writeFileSync(file, JSON.stringify({ version: '3.9', services: { ...services, ...databases } }));
  return file;
}

/** Debian's docker-compose 1.29 reads everything of our files but their name. */
function withoutName(file: string): string {
  const { name: _name, ...rest } = load(readFileSync(join(FOLDER, file), 'utf8')) as {
    name: string;
  };
  const copy = join(STATE, file.replace('.yaml', '.json'));
  writeFileSync(copy, JSON.stringify({ version: '3.9', ...rest }));
  return copy;
}

export async function composeMesh(): Promise<string> {
  const is_old = isInstalled('docker-compose');
  const program = is_old ? ['docker-compose'] : ['docker', 'compose'];
  for (const tag of meshTags()) {
    const name = /\/(bmg-[a-z-]+):/.exec(tag)?.[1] as string;
    await docker(['tag', tag, `${name}:latest`]);
  }
  const files = ['compose.yaml', 'compose.mesh.yaml'].map((name) =>
    is_old ? withoutName(name) : join(FOLDER, name),
  );
  const compose = (...args: string[]): Promise<string> => {
    const [command, ...first] = [
      ...program,
      ...['--project-name', PROJECT, '--project-directory', FOLDER],
      ...[...files, engineChanges()].flatMap((file) => ['--file', file]),
    ] as [string, ...string[]];
    return run(command, [...first, ...args], { env: dockerEnvironment(), limit_ms: UP_LIMIT_MS });
  };
  const since = stopwatch();
  try {
    await compose('up', '--detach', '--no-build', ...PARTS);
    const unhealthy = await untilHealthy(BASE_URL, HEALTHY_LIMIT_MS);
    if (unhealthy !== null) throw new Error(unhealthy);
    const seconds = since();
    const create = ['partner', 'create', '--name', 'Compose', '--json'];
    const output = await compose('run', '--rm', '-T', 'cli', ...create);
    const { partner_key } = JSON.parse(output) as { partner_key: string };
    const number = seededNumbers(0).ONE;
    const call = async (method: string, path: string, body?: unknown): Promise<any> => {
      const headers = { 'x-waba-id': number.waba_id };
      const answer = await ask(BASE_URL, partner_key, { method, path, body, headers });
      if (!answer || answer.status >= 300) {
        throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      }
      return answer.body;
    };
    await call('POST', '/clients/register', number);
    const sent = await call('POST', '/messages/send', { to: '15550100999', text: 'Compose' });
    await eventually(async () => {
      const timeline = await call('GET', `/messages/${sent.message_id}/timeline`);
      return JSON.stringify(timeline).includes('delivered');
    }, READ_LIMIT_MS);
    return `healthy after ${seconds} s, the first message was delivered`;
  } finally {
    await compose('down', '--volumes');
  }
}
