// The emulator's accounts in this test file's world: the same accounts in every world, under different
// IDs, so that test files can share a mesh.
import { randomInt } from 'node:crypto';
import { seededNumbers } from '../testkit/rest';

export const WORLD = randomInt(1, 100_000_000);
export const { ONE, TWO_A, TWO_B } = seededNumbers(WORLD);

/** Distinguishes parallel jest workers: each has one mesh and one set of processes. */
export const WORKER = process.env['JEST_WORKER_ID'] ?? '1';

/** Folder of the state that the files of a test run share; global-setup.ts creates it. */
export const runDir = (): string => process.env['BMG_TEST_DIR'] as string;
