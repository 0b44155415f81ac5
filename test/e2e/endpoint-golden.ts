// Counts the requests of each kind that each row answered as expected, in a golden file from which
// gateway/ENDPOINTS.md is generated. GOLDEN=write writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import { operationName } from '../../gateway/src/openapi';
import { layOutJson } from '../testkit/json-layout';

const GOLDEN_CASES = join(__dirname, '../golden/endpoint-cases.json');

export type CaseKind = 'success' | 'bad_input' | 'not_allowed' | 'upstream_failures';
export type CaseCounts = Record<string, Partial<Record<CaseKind, number>>>;

export const readCases = (): CaseCounts =>
  JSON.parse(readFileSync(GOLDEN_CASES, 'utf8')) as CaseCounts;

export interface CaseTally {
  /** Counts requests; call it after their assertions, so that failed ones are not counted. */
  add(row: Pick<Endpoint, 'operation' | 'rpc'> | string, kind: CaseKind, count?: number): void;
  /** Expects the counts of these kinds to match the golden file. */
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

/** Several test files write one file, each its own kinds. */
function write(counts: CaseCounts, kinds: CaseKind[]): void {
  const known = readCases();
  const rows = [...new Set([...Object.keys(known), ...Object.keys(counts)])].sort();
  const merged = rows.map((row) => {
    const kept = Object.entries(known[row] ?? {}).filter(
      ([kind]) => !kinds.includes(kind as CaseKind),
    );
    return [row, { ...Object.fromEntries(kept), ...ofKinds(counts, kinds)[row] }];
  });
  writeFileSync(GOLDEN_CASES, layOutJson(Object.fromEntries(merged)));
}
