// State that the files of a test run share, and the emulator's accounts in a file's world: the same
// accounts in every world, under different IDs, so that files can share a mesh.
import { randomBytes, randomInt } from 'node:crypto';
import { seededNumbers } from '../testkit/rest';

export const WORLD = randomInt(1, 100_000_000);
export const { ONE, TWO_A, TWO_B } = seededNumbers(WORLD);

/** Folder of the state that the files of a test run share; global-setup.ts creates it. */
export const runDir = (): string => process.env['BMG_TEST_DIR'] as string;

/** Names in the engines that no other mesh has. */
export function ownNames(kind: 'p' | 't') {
  const run = `${kind}${randomBytes(5).toString('hex')}`;
  return {
    MONGO_DATABASE_PREFIX: `${run}-`,
    KAFKA_TOPIC_PREFIX: `${run}.`,
    REDIS_KEY_PREFIX: `${run}:`,
  };
}

const IS_LONG = [process.env['BMG_FAULTS'], process.env['BMG_ATTACKS']].includes('long');

/**
 * Settings of engines that live for minutes: Java's second compiler would take more CPU than it
 * saves. Long runs measure, so theirs are compiled as in production.
 */
export const ENGINES_LIVE_SHORT: Record<string, string> = IS_LONG
  ? {}
  : { JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1' };
