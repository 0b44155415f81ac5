// The rights at the engines (deploy/engine-users) against the code: the topics, collections and
// keys that each process reads, writes and opens. The page deploy/ENGINE-USERS.md is generated from
// them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { list } from '@ioredis/commands';
import {
  accessOf,
  KAFKA_USERS,
  PROCESSES,
  userOf,
  type ProcessName,
} from '../../deploy/engine-users/src/access';
import {
  kafkaCommand,
  kafkaGrants,
  mongoCommand,
  redisUser,
} from '../../deploy/engine-users/src/grants';
import { CONSUMED, consumedTopics } from '../testkit/consumed-topics';

const ROOT = resolve(__dirname, '../..');
const PAGE = join(ROOT, 'deploy/ENGINE-USERS.md');

/** The code of a process, without its tests. */
function codeOf(name: ProcessName): string {
  const folder = join(ROOT, name === 'gateway' ? 'gateway/src' : `services/${name}/src`);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
}

const found = (code: string, pattern: RegExp): string[][] =>
  [...code.matchAll(pattern)].map((match) => match.slice(1));
const sorted = (list: Iterable<unknown>): string[] =>
  [...new Set([...list].map((item) => JSON.stringify(item)))].sort();

describe.each(PROCESSES)('%s', (name) => {
  const code = codeOf(name);
  const { reads = [], writes = [], watches = [], database, redis } = accessOf(name);

  test('reads the topics of its table, in these groups', () => {
    expect(sorted(consumedTopics(name, code))).toEqual(sorted(reads));
  });

  test('writes the topics of its table', () => {
    const rest = code
      .replaceAll(CONSUMED, '')
      .replaceAll(/\.behind\(topics\.\w+/g, '')
      .replaceAll(/deadLetter\(\s*topics\.\w+/g, '')
      .replaceAll(/topics\.\w+\.(?:message_limit_bytes|partitions)/g, '');
    expect(sorted(found(rest, /\btopics\.(\w+)/g).flat())).toEqual(sorted(writes));
  });

  test('opens the database of its table', () => {
    const opened = found(code, /openMongo\(config, '([\w-]+)'/g).flat();
    expect(opened).toEqual(database === undefined ? [] : [database]);
  });

  test('has a row for each of its Redis keys, commands and channels, and needs no further group', () => {
    const keys = found(code, /[`'](bmg:(?:\$\{[^}]*\}|[^`'$])*)[`']/g)
      .flat()
      .map((key) => key.replaceAll(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, '*'));
    const allowed = [...redis.keys, ...(redis.channels ?? [])];
    const covers = (key: string): boolean =>
      allowed.some((one) =>
        new RegExp(`^${one.replaceAll(/[{}]/g, '\\$&').replaceAll('*', '.*')}$`).test(key),
      );
    expect(keys.filter((key) => !covers(key))).toEqual([]);
    const sent = found(code, /\b(?:redis|pipeline|commands)\.([a-z]+)\(|redis\.p?call\('(\w+)'/g)
      .flat()
      .flatMap((command) => command?.toLowerCase() ?? [])
      .filter((command) => list.includes(command) && command !== 'exec');
    expect(sent.filter((command) => !redis.commands.includes(command))).toEqual([]);
    expect(/\.attended\(/.test(code)).toBe(watches.length > 0);
  });
});

test('fanout has a row for each kind of key of its memory', () => {
  const code = readFileSync(join(ROOT, 'services/fanout/src/memory.ts'), 'utf8');
  const kinds = found(code, /(?:contentId|keysOf)\(\s*'(\w+)'/g).flat();
  const { keys } = accessOf('fanout').redis;
  expect(kinds.filter((kind) => !keys.includes(`${kind}_*`))).toEqual([]);
  expect(kinds).toContain('status');
});

const kafka = (): string =>
  KAFKA_USERS.flatMap((name) => {
    const commands = kafkaGrants(name).map((grant) => kafkaCommand(name, grant));
    if (commands.length === 0) return [];
    return [
      `# ${name}`,
      `kafka-configs --bootstrap-server "$BROKERS" --command-config admin.properties --alter --entity-type users --entity-name ${userOf(name)} --add-config "SCRAM-SHA-512=[password=$PASSWORD]"`,
      ...commands,
    ];
  }).join('\n');

const mongo = (): string =>
  PROCESSES.map(mongoCommand)
    .filter((command) => command !== undefined)
    .join('\n');

const redis = (): string =>
  PROCESSES.map((name) => `user ${redisUser(name, 'PASSWORD')}`).join('\n');

test('the page has the commands of these rights', () => {
  const page = readFileSync(PAGE, 'utf8');
  let wanted = page;
  for (const [name, text] of Object.entries({ kafka: kafka(), mongo: mongo(), redis: redis() })) {
    const place = new RegExp(
      `(<!-- ${name} -->\n+\`\`\`\\w+\n)[\\s\\S]*?(\n\`\`\`\n+<!-- /${name} -->)`,
    );
    expect(page).toMatch(place);
    wanted = wanted.replace(place, (_all, open: string, close: string) => open + text + close);
  }
  if (process.env['GOLDEN'] === 'write') writeFileSync(PAGE, wanted);
  else expect(page).toBe(wanted);
});
