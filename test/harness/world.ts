// The emulator's accounts in this test file's world: the same accounts in every world, under different
// IDs, so that test files can share a mesh.
import { randomInt } from 'node:crypto';
import { seededNumbers } from '../testkit/rest';

export const WORLD = randomInt(1, 100_000_000);
export const { ONE, TWO_A, TWO_B } = seededNumbers(WORLD);

/** Folder of the state that the files of a test run share; global-setup.ts creates it. */
export const runDir = (): string => process.env['BMG_TEST_DIR'] as string;
