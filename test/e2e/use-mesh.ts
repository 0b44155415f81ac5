// The set-up of most test files: a mesh that is joined before the tests and left after them, its
// databases, partners, and further gateways.
import { MongoClient, type Db } from 'mongodb';
import { loadConfig } from '@bmg/common/config';
import { startService } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { freePort } from '@bmg/local';
import { settings } from '../../gateway/src/config';
import { createGateway } from '../../gateway/src/service';
import { eventually } from '../testkit/eventually';
import {
  joinMesh,
  ONE,
  type Mesh,
  type SeededNumber,
  type TestPartner,
} from '../harness/shared-mesh';

/** The mesh of a file or of a `describe`; its properties are there once its tests begin. */
export function useMesh(join: () => Promise<Mesh> = joinMesh): Mesh {
  const mesh = {} as Mesh;
  beforeAll(async () => {
    Object.assign(mesh, await join());
  });
  afterAll(() => mesh.stop?.());
  return mesh;
}

/** Another gateway with the settings of a mesh, in this process. */
export async function startGateway(env: NodeJS.ProcessEnv) {
  const port = await freePort();
  const own = { ...env, GATEWAY_PORT: String(port), METRICS_PORT: '0' };
  const running = await startService(
    createGateway(loadConfig(settings, own)),
    createLogger('gateway-2'),
  );
  await eventually(() => running.ready());
  return { base_url: `http://127.0.0.1:${port}/v1`, stop: () => running.stop() };
}

/** A partner with these numbers, made before the tests. */
export function usePartner(
  mesh: Mesh,
  numbers: readonly SeededNumber[] = [ONE],
  options: Parameters<Mesh['createPartner']>[0] = {},
): TestPartner {
  const partner = {} as TestPartner;
  beforeAll(async () => {
    Object.assign(partner, await mesh.createPartner(options));
    for (const number of numbers) await partner.register(number);
  });
  return partner;
}

/** Opens the database of a service, while the tests run. */
export function useDatabases(mesh: Mesh): (service: string) => Db {
  let client: MongoClient;
  beforeAll(async () => {
    client = await MongoClient.connect(mesh.env['MONGO_URL'] as string);
  });
  afterAll(() => client?.close());
  return (service) => client.db(`${mesh.env['MONGO_DATABASE_PREFIX']}${service}`);
}
