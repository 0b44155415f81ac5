// The table of events in services/fanout/EVENTS.md is generated from the docs of the events
// (gateway/src/openapi/events.ts). GOLDEN=write writes it; otherwise it is compared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS, type EventDocs } from '../../gateway/src/openapi/events';

const FILE = join(__dirname, '../../services/fanout/EVENTS.md');
const TABLE = /(\| Event \| Upstream field \| `data` \|\n)(?:\|.*\n)*/;

/** The keys of `data`, with a `?` after those that may be absent. */
function keysOf({ data }: EventDocs): string {
  const { properties = {}, required = [] } = data;
  return Object.keys(properties)
    .map((key) => `\`${key}\`${required.includes(key) ? '' : '?'}`)
    .join(', ');
}

function rows(): string {
  const lines = Object.entries(EVENTS).flatMap(([name, docs]) =>
    docs.upstream === undefined
      ? []
      : [
          `| \`${name}\` | ${docs.upstream} | ${[`${keysOf(docs)}.`, docs.notes ?? ''].join(' ').trim()} |`,
        ],
  );
  return ['|---|---|---|', ...lines, ''].join('\n');
}

test('EVENTS.md lists the events and their data', () => {
  const page = readFileSync(FILE, 'utf8');
  const wanted = page.replace(TABLE, (_all, head: string) => head + rows());
  if (process.env['GOLDEN'] === 'write') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
  expect(page).toMatch(TABLE);
});
