// The settings page lists every setting that a process reads; its table is generated from the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Field } from '@bmg/common/config';
import { ROOT, SERVICES } from '../helm/facts';

const PAGE = resolve(ROOT, 'deploy/SETTINGS.md');
const PART = /(<!-- settings: [^>]*-->\n)[\s\S]*?(<!-- \/settings -->)/;

interface Row {
  readers: string[];
  defaults: Set<string>;
  meaning: string;
}

function table(): string {
  const rows = new Map<string, Row>();
  for (const [service, fields] of Object.entries(SERVICES)) {
    for (const [name, field] of Object.entries(fields)) {
      const row = rows.get(name) ?? {
        readers: [],
        defaults: new Set(),
        meaning: meaningOf(name, field),
      };
      row.readers.push(service);
      row.defaults.add(defaultOf(field));
      rows.set(name, row);
    }
  }
  const lines = [...rows].map(([name, { readers, defaults, meaning }]) => {
    return `| \`${name}\` | ${readersOf(readers)} | ${[...defaults].join(' / ')} | ${meaning} |`;
  });
  return ['| Setting | Read by | Default | Meaning |', '|---|---|---|---|', ...lines, ''].join(
    '\n',
  );
}

/** `all`, `all but one`, or the names. */
function readersOf(readers: string[]): string {
  const others = Object.keys(SERVICES).filter((service) => !readers.includes(service));
  if (others.length === 0) return 'all';
  return others.length === 1 ? `all but ${others[0]}` : readers.join(', ');
}

const meaningOf = (name: string, { secret, description }: Field<unknown>): string =>
  secret ? `${description} (secret: \`${name}_FILE\` works too)` : description;

function defaultOf({ schema, default: fallback }: Field<unknown>): string {
  if (fallback !== undefined) return fallback === '' ? 'empty' : `\`${String(fallback)}\``;
  return schema['optional'] ? 'none' : 'required';
}

test('the settings page shows the settings that the processes read', () => {
  const page = readFileSync(PAGE, 'utf8');
  const wanted = page.replace(
    PART,
    (_all, open: string, close: string) => `${open}\n${table()}\n${close}`,
  );
  if (process.env['GOLDEN'] === 'write') writeFileSync(PAGE, wanted);
  else expect(page).toBe(wanted);
  expect(page).toMatch(PART);
});
