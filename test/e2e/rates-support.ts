// The sample rate card in a mesh that test files share: other files expect no card.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createRpcClient } from '@bmg/common/rpc';
import { RatesDefinition } from '@bmg/proto/messaging';
import type { Mesh } from '../harness/shared-mesh';
import { withDatabase } from './stored';

const SAMPLE = resolve(__dirname, '../../deploy/local/sample-rates.csv');

/** Loads the card, as an operator does. */
export async function loadSampleRates(mesh: Mesh): Promise<void> {
  const rates = createRpcClient(RatesDefinition, mesh.env['MESSAGING_ADDR'] as string);
  await rates.start(new AbortController().signal);
  await rates.rpc.loadRates({ csv: readFileSync(SAMPLE, 'utf8') }, mesh.call());
  await rates.stop();
}

/** Removes every card. */
export const removeRates = (mesh: Mesh): Promise<unknown> =>
  withDatabase(mesh, 'messaging', (db) => db.collection('rate_cards').deleteMany({}));
