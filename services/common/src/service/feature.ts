// What a feature adds to its service, and the features that every service has.
import { IndexesDefinition, type IndexDifference as Message } from '@bmg/proto/data';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Received, Topic, topics } from '../bus';
import { type Component, pause } from '../lifecycle';
import { type Database, keyText, type IndexChange, type IndexDifference } from '../mongo';
import { createPurge, ownersFrom, type PurgeDependencies } from '../purge';
import { type Client, type Implementation, implement } from '../rpc';
import type { Logger } from '../telemetry';

type MessageOf<T> = T extends Topic<infer M> ? M : never;

export type Consumers = {
  [K in keyof typeof topics]?: (batch: Received<MessageOf<(typeof topics)[K]>>[]) => Promise<void>;
};

export interface Feature {
  /** Several features may implement parts of one definition. */
  rpcs?: Implementation[];
  /** If several features consume a topic, each batch passes them in the order of the features. */
  consumers?: Consumers;
  /** Called when the partitions of a topic that the feature consumes move between processes. */
  onAssigned?(this: void): void;
  /** Written by RPCs and consumers: they start before both and stop after them. */
  buffers?: Component[];
  /** Background work, which starts after the consumers and stops before them. */
  workers?: Component[];
  /** Other ways in, and what ends the calls that wait: they start last, and stop before the RPC server. */
  doors?: Component[];
}

/** Deletes a client's data on request, for every service but onboarding. */
export const purge =
  (rows: PurgeDependencies['rows']) =>
  (deps: { database: Database; directory: Client<DirectoryDefinition>; log: Logger }): Feature => ({
    rpcs: [
      createPurge({
        ...deps,
        db: deps.database.background,
        rows,
        owners: ownersFrom(deps.directory),
      }),
    ],
  });

/** Compares and applies the indexes of the service's database, for the operator. */
export const ownIndexes = ({ database, log }: { database: Database; log: Logger }): Feature => ({
  rpcs: [createIndexRpcs(database, log)],
});

/** The rest of a call's time, for the answer. */
const ANSWER_MS = 5_000;

/** An operator compares the service's indexes with their declaration, and applies it. */
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
      const late = pause(call.deadline - Date.now() - ANSWER_MS, answered.signal);
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
