// Opens the engines and clients, and makes of them what the features share.
import { createBus } from '@bmg/common/bus';
import { createCredentials, createVersions, type Credentials } from '@bmg/common/directory';
import { openMongo, type Database } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import type { Client } from '@bmg/common/rpc';
import type { Kit } from '@bmg/common/service';
import type { Logger } from '@bmg/common/telemetry';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import type { Config } from './config';
import { indexes } from './collections';
import { StateWriter } from './contact-states/state-writer';
import { createPace, type Pace } from './pace/redis-pace';
import { createBroadcastStore, type Broadcasts } from './records/broadcasts';
import { createChunkStore, type Chunks } from './records/chunks';
import { Runner } from './runner/runner';
import { createTemplateStateStore, type TemplateStates } from './template/store';

export interface Dependencies {
  config: Config;
  database: Database;
  broadcasts: Broadcasts;
  chunks: Chunks;
  pace: Pace;
  stateWriter: StateWriter;
  runner: Runner;
  states: TemplateStates;
  credentials: Credentials;
  directory: Client<DirectoryDefinition>;
  messaging: Client<MessagingDefinition>;
  /** Undefined without an address: the last status event of a template decides then. */
  templates: Client<TemplatesDefinition> | undefined;
  log: Logger;
}

/** Shorter than a graceful shutdown, longer than most answers of the upstream take. */
const SENDS_STOP_LIMIT_MS = 12_000;

export function openDependencies({ config, log, use, useBus, connect }: Kit<Config>): Dependencies {
  const redis = use(openRedis(config, log));
  const database = use(openMongo(config, 'broadcasts', log, indexes));
  const { db } = database;
  const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
  useBus(createBus(config, 'broadcasts', log));
  const chunks = createChunkStore(db);
  const shared = {
    broadcasts: createBroadcastStore(db),
    chunks,
    pace: createPace(redis),
    stateWriter: new StateWriter(chunks),
    credentials: createCredentials(directory, createVersions(redis, log)),
    messaging: connect(MessagingDefinition, config.MESSAGING_ADDR),
    log,
  };
  return {
    ...shared,
    config,
    database,
    directory,
    runner: new Runner({
      ...shared,
      settings: {
        share_percent: config.BROADCAST_SHARE_PERCENT,
        grace_ms: config.BROADCAST_GRACE_MS,
        lease_ms: config.BROADCAST_LEASE_MS,
        stop_limit_ms: SENDS_STOP_LIMIT_MS,
      },
    }),
    states: createTemplateStateStore(db),
    templates: connect(TemplatesDefinition, config.TEMPLATES_ADDR),
  };
}
