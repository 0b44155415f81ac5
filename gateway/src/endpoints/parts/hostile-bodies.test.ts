// No body costs more than a bounded time of the event loop or more memory than is reserved for it,
// whatever its content; and every answer to it is short. Every schema, filled with hostile values.
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { toApiError } from '@bmg/common/errors';
import type { Codec } from '@bmg/common/rpc';
import * as consoleApi from '../../console/schemas';
import { readBody } from '../../edge/body';
import { errorBody } from '../../error-guide/error-body';
import { encodeLong } from '../../edge/large-body';
import { endpoints } from '..';
import type { Endpoint, Fields, Input } from '../endpoint';
import { reportConnectStep } from '../onboarding/schemas';
import { compile, type Schema } from './schema';
import { longestTurn } from '../../../../test/testkit/longest-turn';

const MIB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Each fill in each place: the nightly run. */
const IS_LONG = process.env['BMG_FAULTS'] === 'long';
/** 50 ms on an idle core. Beside other tests the same work takes up to twice the CPU time. */
const TURN_CPU_MS_MAX = IS_LONG ? 50 : 100;
const ANSWER_BYTES_MAX = 64 * 1024;
/** The best of several runs counts: a run may be the one that compiles or collects garbage. */
const RUNS = 4;

type Row = Pick<
  Endpoint,
  'body' | 'example' | 'body_limit_bytes' | 'body_nodes_max' | 'checkItems' | 'request'
> & {
  name: string;
  codec?: Codec<object>;
};

/** The bodies that a row's variant takes are another row. */
const variants = endpoints.flatMap((endpoint): Endpoint[] =>
  endpoint.variant
    ? [
        {
          ...endpoint,
          ...endpoint.variant,
          path: `${endpoint.path} (${endpoint.variant.rpc.method})`,
        },
      ]
    : [],
);
const rows: Row[] = [...endpoints, ...variants]
  .filter(({ body }) => body)
  .map((endpoint) => ({
    ...endpoint,
    name: `${endpoint.verb} ${endpoint.path}`,
    codec: endpoint.rpc.codecs.requestType as Codec<object>,
  }));
const pages: Row[] = Object.entries({ ...consoleApi, reportConnectStep }).map(([name, body]) => ({
  name,
  body,
  body_limit_bytes: 8 * 1024,
}));

const repeat = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length));
const list =
  (item: string) =>
  (bytes: number): string =>
    `[${repeat(`${item},`, bytes - 2 * item.length - 2)}${item}]`;
const quoted =
  (text: string) =>
  (bytes: number): string =>
    `"${repeat(text, bytes - text.length)}"`;
const members =
  (value: string, name = (at: number): string => at.toString(36)) =>
  (bytes: number): string => {
    const text: string[] = [];
    for (let size = 0, at = 0; size < bytes - 100; at += 1) {
      text.push(`"${name(at)}":${value}`);
      size += (text.at(-1)?.length ?? 0) + 1;
    }
    return `{${text.join()}}`;
  };

/** Fills of about this many bytes. */
const FILLS: Readonly<Record<string, (bytes: number) => string>> = {
  'a list of numbers': list('1'),
  'a list of objects': list('{}'),
  'a list of lists': list('[[]]'),
  'a list of texts': list('""'),
  'a list of recipients': list('"15550100777"'),
  'a list of contacts': list('{"to":"15550100777","params":["a",1,{}]}'),
  'a list of nulls': list('null'),
  'a list of long texts': list(`"${'x'.repeat(5_000)}"`),
  'an object of numbers': members('1'),
  'an object of objects': members('{"a":{}}'),
  'an object with long keys': members('0', (at) => `${at}`.padEnd(500, 'k')),
  'a long text': quoted('x'),
  'a text of escapes': quoted('\\u00e9'),
  'a text of quotes': quoted('\\"'),
  'a text of emoji': quoted('👩‍👩‍👧'),
  'a text of spaces': quoted(' '),
  'a text of digits': quoted('1'),
  'a long number': (bytes) => repeat('1', bytes),
  'a long fraction': (bytes) => `0.${repeat('0', bytes - 10)}1e9`,
};

/** Places for a fill: each property, the items of each list, and a property that no schema has. */
function* places(schema: Schema): Generator<(fill: string) => string> {
  const known = Object.entries(schema.properties ?? {});
  for (const [key, property] of [...known, ['unknown', {}] as [string, Schema]]) {
    const inside = (fill: string): string => `"${key}":${fill}`;
    yield inside;
    for (const inner of Object.keys(property.properties ?? {})) {
      yield (fill) => inside(`{"${inner}":${fill}}`);
    }
    for (const inner of Object.keys(property.items?.properties ?? {})) {
      yield (fill) => inside(`[{"${inner}":${fill}}]`);
    }
  }
}

/** All other properties of the example, so that the fill is reached. */
function bodyWith(example: Fields, place: (fill: string) => string, fill: string): Buffer {
  const key = /^"(.*?)"/.exec(place(''))?.[1] ?? '';
  const { [key]: _replaced, ...others } = example;
  const rest = JSON.stringify(others).slice(1, -1);
  return Buffer.from(`{${rest ? `${rest},` : ''}${place(fill)}}`);
}

const TARGET = { partner_id: 'p', waba_id: '9', phone_number_id: '8', directory_version: '1' };

/**
 * Handles a body as the chain does: reads, checks and encodes it. Returns the answer's error, if
 * any.
 */
async function take(row: Row, check: ReturnType<typeof compile>, body: Buffer): Promise<string> {
  const { body_limit_bytes: limit_bytes = MIB, body_nodes_max: nodes_max, checkItems } = row;
  // A socket gives one chunk a turn.
  const chunks = async function* () {
    for (let at = 0; at < body.length; at += CHUNK_BYTES) {
      await setImmediate();
      yield body.subarray(at, at + CHUNK_BYTES);
    }
  };
  const request = Object.assign(Readable.from(chunks()), { headers: {} });
  try {
    const read = await readBody(request as unknown as IncomingMessage, {
      limit_bytes,
      nodes_max,
      checkItems,
    });
    const input = { params: {}, query: {}, body: check(read), target: TARGET, partner_id: 'p' };
    const fields = (await row.request?.(input as unknown as Input)) ?? {
      ...input.body,
      target: TARGET,
    };
    const message = row.codec && (await encodeLong(row.codec, fields));
    if (message && !(message instanceof Uint8Array)) row.codec?.encode(message).finish();
    return '';
  } catch (error) {
    return JSON.stringify(errorBody(toApiError(error), 'request'));
  }
}

/** Otherwise, bodies for each row. */
const BODIES_PER_ROW = 2;

type Case = [place: (fill: string) => string, name: string, fill: (bytes: number) => string];
const FILL_ENTRIES = Object.entries(FILLS);

/** All cases in the long run, otherwise some places of the row with the next fills. */
let turn = 0;
function casesOf(schema: Schema): Case[] {
  const all = [...places(schema)];
  if (IS_LONG) {
    return all.flatMap((place) => FILL_ENTRIES.map(([name, fill]): Case => [place, name, fill]));
  }
  return Array.from({ length: BODIES_PER_ROW }, (): Case => {
    turn += 1;
    const [name, fill] = FILL_ENTRIES[turn % FILL_ENTRIES.length] as (typeof FILL_ENTRIES)[number];
    return [all[turn % all.length] as Case[0], name, fill];
  });
}

const shape = ({ name, ...row }: Row): [string, Row] => [name, { name, ...row }];
const exampleOf = (row: Row): Fields => row.example ?? {};

test.each([...rows, ...pages].map(shape))(
  '%s takes no long turn of the event loop and answers at most 64 KiB',
  async (_name, row) => {
    const check = compile(row.body as Schema, 'body');
    const limit = row.body_limit_bytes ?? MIB;
    for (const [place, name, fill] of casesOf(row.body as Schema)) {
      const others = JSON.stringify(exampleOf(row)).length;
      const body = bodyWith(exampleOf(row), place, fill(limit - others - 500));
      let best = Infinity;
      let answer = '';
      for (let run = 0; run < RUNS && best > TURN_CPU_MS_MAX; run += 1) {
        best = Math.min(
          best,
          await longestTurn(async () => (answer = await take(row, check, body))),
        );
      }
      expect([place('…'), name, Math.max(best, TURN_CPU_MS_MAX)]).toEqual([
        place('…'),
        name,
        TURN_CPU_MS_MAX,
      ]);
      expect([place('…'), name, answer.length < ANSWER_BYTES_MAX]).toEqual([
        place('…'),
        name,
        true,
      ]);
    }
  },
);
