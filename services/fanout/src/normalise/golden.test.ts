// Every pair in test/golden/events: a raw body and the exact result of normalising it.
// `GOLDEN=write npx jest services/fanout --selectProjects unit` rewrites the results, and lays out
// the raw bodies without changing a value; review the difference like code.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  eventIdOf,
  eventIdsOfMessage,
  statusRecord,
  UPSTREAM_EVENTS,
  type EventFacts,
} from '@bmg/common/messages';
import { parseUpstream } from '@bmg/common/upstream-webhook';
import {
  bodyOf,
  FOLDER,
  goldenNames as names,
  NOW,
  print,
  readGolden,
  shorten,
} from '../../../../test/testkit/golden-events';
import { layOutJson } from '../../../../test/testkit/json-layout';
import { FIELDS } from './fields';
import { normalise } from './index';

const WRITE = process.env.GOLDEN === 'write';

const bodies = new Map(names.map((name) => [name, parseUpstream(bodyOf(name)).body]));
const resultOf = (name: string) => normalise(bodies.get(name), NOW);

describe('normalises an upstream body to exactly the reviewed result', () => {
  test.each(names)('%s', (name) => {
    const write = (side: string, text: string) =>
      writeFileSync(join(FOLDER, `${name}.${side}.json`), text);
    if (WRITE) write('in', layOutJson(parseUpstream(readGolden(name, 'in')).body, print));
    const result = resultOf(name);
    const ignored = [...result.ignored.values()];
    const outcome = layOutJson(shorten({ ...result, ignored }, bodies.get(name)), print);
    if (WRITE) write('out', outcome);
    expect(outcome).toBe(readGolden(name, 'out'));
  });
});

test('the events of a message have the ids by which its timeline finds them', () => {
  const events = names.flatMap((name) => resultOf(name).events);
  const ofMessages = events.filter(
    ({ data, phone_number_id, ignored_as }) =>
      phone_number_id !== null && data['message_id'] && ignored_as === undefined,
  );
  const participants = new Set<string>();
  const receipt = { received_at_ms: 0 };
  const spaces = new Set(
    ofMessages.map((event) => {
      const message = {
        phone_number_id: event.phone_number_id as string,
        message_id: String(event.data['message_id']),
      };
      // Messaging learns of it in this form.
      const { participant } = statusRecord({ ...receipt, ...event } as EventFacts) ?? {};
      if (participant !== undefined) participants.add(participant);
      const ids = eventIdsOfMessage(
        'ptn_1',
        message,
        participant === undefined ? [] : [participant],
      );
      expect(ids).toContain(eventIdOf(event.occurrence, 'ptn_1'));
      return event.occurrence.split('|')[0];
    }),
  );
  expect(spaces.size).toBeGreaterThanOrEqual(6);
  expect(participants.size).toBeGreaterThanOrEqual(2);
});

describe('the pairs are complete', () => {
  test('contain every event name of the contract', () => {
    const seen = new Set(names.flatMap((name) => resultOf(name).events.map((e) => e.event)));
    expect(UPSTREAM_EVENTS.filter((event) => !seen.has(event))).toEqual([]);
  });

  test('contain every upstream field', () => {
    const raw = names.map(bodyOf).join('\n');
    expect([...FIELDS.keys()].filter((field) => !raw.includes(`"${field}"`))).toEqual([]);
  });

  test('have an input and a result each', () => {
    const outcomes = readdirSync(FOLDER).filter((file) => file.endsWith('.out.json'));
    expect(outcomes.sort()).toEqual(names.map((name) => `${name}.out.json`).sort());
  });
});
