// The dependencies that the features share: the stores, the pace, and the clients of other
// services.
import type { Db } from 'mongodb';
import { createCredentials, createVersions, type Credentials } from '@bmg/common/directory';
import type { RedisConnection } from '@bmg/common/redis';
import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import { createPace, type Pace } from './pace/redis-pace';
import { createBroadcastStore, type Broadcasts } from './store/broadcasts';
import { createChunkStore, type Chunks } from './store/chunks';

export interface Dependencies {
  db: Db;
  broadcasts: Broadcasts;
  chunks: Chunks;
  pace: Pace;
  credentials: Credentials;
  messaging: Client<MessagingDefinition>;
  log: Logger;
}

interface Given {
  db: Db;
  redis: RedisConnection;
  directory: Client<DirectoryDefinition>;
  messaging: Client<MessagingDefinition>;
  log: Logger;
}

export const createDependencies = ({
  db,
  redis,
  directory,
  messaging,
  log,
}: Given): Dependencies => ({
  db,
  broadcasts: createBroadcastStore(db),
  chunks: createChunkStore(db),
  pace: createPace(redis),
  credentials: createCredentials(directory, createVersions(redis, log)),
  messaging,
  log,
});
