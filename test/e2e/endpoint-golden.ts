// Counts the requests of each kind that each row answered as expected. The last columns of
// gateway/ENDPOINTS.md hold the counts; GOLDEN=write writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';

const PAGE = join(__dirname, '../../gateway/ENDPOINTS.md');
/** A row of the page: its method, its path, and the cells of the counts. */
const ROW = /^(\| (\w+) \| `([^`]+)`.* \| )(\S+ \| \S+ \| \S+ \| \S+)(?= \|$)/gm;
const KINDS = ['success', 'bad_input', 'not_allowed', 'upstream_failures'] as const;

type CaseKind = (typeof KINDS)[number];
type CaseCounts = Record<string, Partial<Record<CaseKind, number>>>;

const names = new Map(
  endpoints.map((row) => [`${row.verb} ${documentPath(row)}`, operationName(row)]),
);
const nameOf = (verb = '', path = ''): string => names.get(`${verb} ${path}`) ?? 'getHealth';

export const readCases = (): CaseCounts =>
  Object.fromEntries(
    [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, , verb, path, cells = '']) => [
      nameOf(verb, path),
      Object.fromEntries(
        cells.split(' | ').flatMap((cell, at) => (cell === '–' ? [] : [[KINDS[at], Number(cell)]])),
      ),
    ]),
  );

/** The cells of a row's counts. */
export const cellsOf = (counts: CaseCounts[string] = {}): string =>
  KINDS.map((kind) => counts[kind] ?? '–').join(' | ');

export interface CaseTally {
  /** Counts requests; call it after their assertions, so that failed ones are not counted. */
  add(row: Pick<Endpoint, 'operation' | 'rpc'> | string, kind: CaseKind, count?: number): void;
  /** Expects the counts of these kinds to match the page. */
  expectGolden(kinds: CaseKind[]): void;
}

export function createCaseTally(): CaseTally {
  const counts: CaseCounts = {};
  return {
    add(row, kind, count = 1) {
      const of = (counts[typeof row === 'string' ? row : operationName(row)] ??= {});
      of[kind] = (of[kind] ?? 0) + count;
    },
    expectGolden(kinds) {
      if (process.env['GOLDEN'] === 'write') write(counts, kinds);
      expect(ofKinds(counts, kinds)).toEqual(ofKinds(readCases(), kinds));
    },
  };
}

/** Rows without any of these kinds are left out. */
const ofKinds = (counts: CaseCounts, kinds: CaseKind[]): CaseCounts =>
  Object.fromEntries(
    Object.entries(counts).flatMap(([row, of]) => {
      const some = kinds.filter((kind) => of[kind] !== undefined);
      return some.length === 0
        ? []
        : [[row, Object.fromEntries(some.map((kind) => [kind, of[kind]]))]];
    }),
  );

/** Several test files write the page, each its own kinds. */
function write(counts: CaseCounts, kinds: CaseKind[]): void {
  const others = ofKinds(
    readCases(),
    KINDS.filter((kind) => !kinds.includes(kind)),
  );
  const own = ofKinds(counts, kinds);
  const page = readFileSync(PAGE, 'utf8').replace(ROW, (_all, head, verb, path) => {
    const name = nameOf(verb, path);
    return head + cellsOf({ ...others[name], ...own[name] });
  });
  writeFileSync(PAGE, page);
}
