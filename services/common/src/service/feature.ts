// What a feature adds to its service.
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Received, Topic, topics } from '../bus';
import type { Component } from '../lifecycle';
import type { Database } from '../mongo';
import { createPurge, ownersFrom, type PurgeDependencies } from '../purge';
import type { Client, Implementation } from '../rpc';
import type { Logger } from '../telemetry';
import { createIndexRpcs } from './index-rpcs';

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
