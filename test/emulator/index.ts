// The emulator as a library: starts one in this process, with a client that drives it.
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { BehaviourHolder } from './behaviour';
import { EmulatorClient } from './client';
import { defaults, type EmulatorConfig } from './config';
import type { Core } from './core';
import { Faults } from './faults';
import { Ids } from './ids';
import { Journal } from './journal';
import { Limits } from './limits';
import { MediaStore } from './media-store';
import { seedState } from './seed';
import { createEmulatorServer } from './server';
import { StateFile } from './state-file';
import { Webhooks } from './webhooks';

export type { FaultInput } from './faults';

/** How long requests in flight may take once the emulator closes. */
const CLOSE_GRACE_MS = 2000;

export class Emulator extends EmulatorClient {
  constructor(
    url: string,
    readonly port: number,
    readonly config: Readonly<EmulatorConfig>,
    private readonly stop: () => Promise<void>,
  ) {
    super(url);
  }

  close(): Promise<void> {
    return this.stop();
  }
}

export async function startEmulator(options: Partial<EmulatorConfig> = {}): Promise<Emulator> {
  const core = createCore({ ...defaults, ...options });
  const server = createEmulatorServer(core);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(core.config.port, core.config.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://${core.config.host}:${port}`;
  core.config.port = port;
  if (core.config.public_url === '') core.config.public_url = url;
  let closing: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    await core.webhooks.close();
    await closed;
    clearTimeout(force);
    core.stateFile?.save();
    if (core.stateFile === null) core.media.close();
  };
  return new Emulator(url, port, core.config, () => (closing ??= stop()));
}

function createCore(config: EmulatorConfig): Core {
  const behaviour = new BehaviourHolder();
  const { data_dir } = config;
  const stateFile = data_dir === '' ? null : new StateFile(data_dir, () => core.state);
  const core: Core = {
    config,
    state: stateFile?.load() ?? seedState(),
    stateFile,
    ids: new Ids(),
    journal: new Journal(),
    faults: new Faults(),
    limits: new Limits(),
    behaviour,
    webhooks: new Webhooks(config, behaviour, () => core.state),
    media: new MediaStore(data_dir === '' ? null : join(data_dir, 'media')),
  };
  return core;
}
