// Two replicas of each service: a mesh as the first ones, a separate folder for the second ones,
// and balancers in front of the gateways and the ingresses, as in a cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { down, freePorts, type MeshProcessName } from '@bmg/local';
import { startBalancer, type Target } from '../testkit/balancer';
import { processesIn, startProcessMesh, type ProcessMesh, type Processes } from './process-mesh';

export interface ReplicatedMesh extends Omit<ProcessMesh, keyof Processes> {
  replicas: [Processes, Processes];
  ingress_url: string;
}

const HOST = '127.0.0.1';

/** `names`: the services with a second replica; must include the gateway and webhooks. */
export async function startReplicatedMesh(
  names: MeshProcessName[],
  env: Record<string, string>,
): Promise<ReplicatedMesh> {
  const gateways: Target[] = [];
  const ingresses: Target[] = [];
  const gateway = await startBalancer(gateways);
  const ingress = await startBalancer(ingresses);
  const ingress_url = `http://${HOST}:${ingress.port}/webhooks/upstream`;

  // A process listens on the last address of its service, which differs in each folder.
  const first = await freePorts();
  const { EMULATOR_PORT: _shared, ...second } = await freePorts();
  for (const name of Object.keys(first).filter((one) => one.endsWith('_ADDR'))) {
    const [one, two] = [first[name], second[name]];
    first[name] = `${two},${one}`;
    second[name] = `${one},${two}`;
  }

  const mesh = await startProcessMesh({
    base_url: `http://${HOST}:${gateway.port}/v1`,
    env: {
      ...env,
      ...first,
      EMULATOR_WEBHOOK_URL: ingress_url,
      PUBLIC_URL: `http://${HOST}:${gateway.port}`,
    },
  });
  const settings = { ...mesh.settings, ...second };
  settings['BASE_URL'] = `http://${HOST}:${settings['GATEWAY_PORT']}/v1`;
  const dir = mkdtempSync(join(tmpdir(), 'bmg-replicas-'));
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(dir, 'env'), lines.join(''));
  const replica = processesIn(dir, mesh.env);
  const stop = async (): Promise<void> => {
    await down({ dir, log: () => undefined });
    await mesh.stop();
    await Promise.all([gateway.close(), ingress.close()]);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await Promise.all(names.map((name) => replica.start(name)));
  } catch (error) {
    await stop();
    throw error;
  }
  for (const its of [mesh.settings, settings]) {
    gateways.push(target(its, 'GATEWAY_PORT', 'GATEWAY_METRICS_PORT'));
    ingresses.push(target(its, 'INGRESS_PORT', 'WEBHOOKS_METRICS_PORT'));
  }
  return { ...mesh, replicas: [mesh, replica], ingress_url, stop };
}

const target = (settings: Record<string, string>, port: string, metrics_port: string): Target => ({
  port: Number(settings[port]),
  metrics_port: Number(settings[metrics_port]),
});
