// The names of the contract's events and the table in services/fanout/EVENTS.md are generated from
// the events' docs (gateway/src/openapi/events.ts), the fields without an event from fanout's rows.
// GOLDEN=write writes them; otherwise they are compared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS, type EventDocs } from '../../gateway/src/openapi/events';
import { NO_EVENT } from '../../services/fanout/src/normalise/context';
import { FIELDS } from '../../services/fanout/src/normalise/fields';
import { WEBHOOK_FIELDS } from '../../services/onboarding/src/operator/app-subscription';
import { WEBHOOK_FIELDS as OFFERED } from '../emulator/webhook-fields';

const SERVICES = join(__dirname, '../../services');
const NAMES = /(?<=CONTRACT_EVENTS = \[\n)[^\]]*/;
const WITHOUT_EVENT = /(?<=\| Upstream \| Counted as \|\n\|---\|---\|\n).*/;
const TABLE = /(?<=\| Event \| Upstream field \| `data` \|\n)(?:\|.*\n)*/;

/** The keys of `data`, with a `?` after those that may be absent. */
function keysOf({ data }: EventDocs): string {
  const { properties = {}, required = [] } = data;
  return Object.keys(properties)
    .map((key) => `\`${key}\`${required.includes(key) ? '' : '?'}`)
    .join(', ');
}

const fromUpstream = Object.entries(EVENTS).filter(([, docs]) => docs.upstream !== undefined);

function rows(): string {
  const lines = fromUpstream.map(
    ([name, docs]) =>
      `| \`${name}\` | ${docs.upstream} | ${[`${keysOf(docs)}.`, docs.notes ?? ''].join(' ').trim()} |`,
  );
  return ['|---|---|---|', ...lines, ''].join('\n');
}

function withoutEvent(): string {
  const fields = [...FIELDS].filter(([, row]) => row === NO_EVENT).map(([field]) => `\`${field}\``);
  return `| ${fields.join(', ')} | \`no_event\` |`;
}

function expectGenerated(path: string, ...parts: Array<[old: RegExp, wanted: string]>): void {
  const file = join(SERVICES, path);
  let text = readFileSync(file, 'utf8');
  for (const [old, wanted] of parts) {
    expect(text).toMatch(old);
    text = text.replace(old, () => wanted);
  }
  if (process.env['GOLDEN'] === 'write') writeFileSync(file, text);
  else expect(readFileSync(file, 'utf8')).toBe(text);
}

test('the list of names has the events of the contract', () => {
  const names = fromUpstream.filter(([, { extra }]) => !extra).map(([name]) => `  '${name}',\n`);
  expectGenerated('common/src/messages/event-names.ts', [NAMES, names.join('')]);
});

test('EVENTS.md lists the events and their data, and the fields without an event', () =>
  expectGenerated('fanout/EVENTS.md', [TABLE, rows()], [WITHOUT_EVENT, withoutEvent()]));

test('the app is subscribed to all fields that the platform offers, and fanout and the page know each', () => {
  expect(WEBHOOK_FIELDS).toEqual(OFFERED);
  expect(WEBHOOK_FIELDS.filter((field) => !FIELDS.has(field))).toEqual([]);
  const page = readFileSync(join(__dirname, '../../helm/README.md'), 'utf8');
  expect(WEBHOOK_FIELDS.filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
});
