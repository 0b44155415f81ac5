// The emulator's accounts in this test file's world: the same as in every other, under ids of its own, so that
// files can share a mesh.
import { randomInt } from 'node:crypto';
import { seededNumbers } from '../testkit/rest';

export const WORLD = randomInt(1, 100_000_000);
export const { ONE, TWO_A, TWO_B } = seededNumbers(WORLD);

/** Distinguishes what parallel jest workers have: each has one mesh and one set of processes. */
export const WORKER = process.env['JEST_WORKER_ID'] ?? '1';

/** Where a test run keeps what its files share; global-setup.ts makes it. */
export const runDir = (): string => process.env['BMG_TEST_DIR'] as string;
