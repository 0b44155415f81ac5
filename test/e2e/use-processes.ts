// The set-up of the tests that stop, kill or measure processes: the mesh that they share, and a
// partner with a receiver.
import type { MeshProcessName } from '@bmg/local';
import {
  joinProcessMesh,
  type startProcessMesh,
  type ProcessMesh,
  type ProcessPartner,
} from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';

export interface UsedProcesses extends ProcessMesh {
  /** Where the upstream posts its webhooks. */
  ingress_url: string;
}

/** The shared mesh, whose processes in `changed` have these settings until the file ends. */
export function useProcesses(
  changed: Partial<Record<MeshProcessName, Record<string, string>>> = {},
  join: () => ReturnType<typeof startProcessMesh> = joinProcessMesh,
): UsedProcesses {
  const mesh = {} as UsedProcesses;
  const names = Object.keys(changed) as MeshProcessName[];
  beforeAll(async () => {
    Object.assign(mesh, await join());
    mesh.ingress_url = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
    for (const name of names) {
      await mesh.terminate(name);
      await mesh.start(name, changed[name]);
    }
  });
  afterAll(async () => {
    for (const name of names) await mesh.terminate?.(name);
    await mesh.stop?.();
  });
  return mesh;
}

export interface ReceivingPartner extends ProcessPartner {
  receiver: PartnerReceiver;
}

/** A partner with the first number, whose receiver gets its events. */
export function useReceivingPartner(mesh: ProcessMesh): ReceivingPartner {
  const partner = {} as ReceivingPartner;
  beforeAll(async () => {
    partner.receiver = await startPartner();
    Object.assign(partner, await mesh.createPartner(partner.receiver.url));
    const { status } = await partner.register();
    expect([200, 201]).toContain(status);
  });
  afterAll(() => partner.receiver?.close());
  return partner;
}
