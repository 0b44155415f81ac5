// The RPCs with which an operator compares a service's indexes with their declaration, and applies it.
import { IndexesDefinition, type IndexDifference as Message } from '@bmg/proto/data';
import { pause } from '../lifecycle';
import { keyText, type Database, type IndexChange, type IndexDifference } from '../mongo';
import { implement, type Implementation } from '../rpc';
import type { Logger } from '../telemetry';

/** The rest of a call's time, for the answer. */
const ANSWER_MS = 5_000;

export function createIndexRpcs({ indexes }: Database, log: Logger): Implementation {
  let building: Promise<IndexChange[]> | undefined;
  const differences = async (): Promise<Message[]> => (await indexes.differences()).map(messageOf);
  return implement(IndexesDefinition, {
    compareIndexes: async () => ({
      differences: await differences(),
      building: building !== undefined,
    }),
    async applyIndexes(options, call) {
      if (building) return { changes: [], building: true, differences: await differences() };
      building = indexes.apply(options).finally(() => (building = undefined));
      building.then(
        (changes) => log.info({ changes }, 'applied the declared indexes'),
        (err: unknown) => log.error({ err }, 'failed to apply the declared indexes'),
      );
      const answered = new AbortController();
      const late = pause(Math.max(0, call.deadline - Date.now() - ANSWER_MS), answered.signal);
      const changes = await Promise.race([building, late.then(() => undefined)]).finally(() =>
        answered.abort(),
      );
      return {
        changes: changes ?? [],
        building: changes === undefined,
        differences: await differences(),
      };
    },
  });
}

const messageOf = (one: IndexDifference): Message => ({
  collection: one.collection,
  name: one.state === 'missing' ? '' : one.stored.name,
  key: keyText(one.state === 'obsolete' ? one.stored.key : one.declared.key),
  state: one.state,
  options: one.state === 'different' ? one.options : [],
});
