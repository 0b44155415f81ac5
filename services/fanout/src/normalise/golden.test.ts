// Every pair in test/golden/events: a raw body and exactly what is made of it.
// `GOLDEN=write npx jest --selectProjects unit services/fanout` rewrites the outcomes; the
// difference is reviewed like code.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import { FIELDS } from './fields';
import { EVENT_NAMES, normalise, parseUpstream, type Normalised } from './index';

const FOLDER = join(__dirname, '../../../../test/golden/events');
const NOW = 1_790_009_999;

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.in.json'))
  .map((file) => file.slice(0, -'.in.json'.length));

function read(name: string): { raw: string; result: Normalised } {
  const raw = readFileSync(join(FOLDER, `${name}.in.json`), 'utf8');
  return { raw, result: normalise(parseUpstream(raw).body, NOW) };
}

describe('an upstream body becomes exactly the reviewed outcome', () => {
  test.each(names)('%s', (name) => {
    const outcome = `${stringify(read(name).result, null, 2)}\n`;
    const file = join(FOLDER, `${name}.out.json`);
    if (process.env.GOLDEN === 'write') writeFileSync(file, outcome);
    expect(outcome).toBe(readFileSync(file, 'utf8'));
  });
});

describe('the pairs leave nothing out', () => {
  test('every event name of the contract occurs', () => {
    const seen = new Set(names.flatMap((name) => read(name).result.events.map((e) => e.event)));
    expect([...EVENT_NAMES].filter((event) => !seen.has(event))).toEqual([]);
  });

  test('every upstream field occurs', () => {
    const raw = names.map((name) => read(name).raw).join('\n');
    expect([...FIELDS.keys()].filter((field) => !raw.includes(`"${field}"`))).toEqual([]);
  });

  test('no pair is left without its other half', () => {
    const outcomes = readdirSync(FOLDER).filter((file) => file.endsWith('.out.json'));
    expect(outcomes.sort()).toEqual(names.map((name) => `${name}.out.json`).sort());
  });
});
