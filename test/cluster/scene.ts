// The parties around the release, as the chaos run has them: partners with receivers, the upstream
// whose webhooks are recorded on their way to the ingress, and the operator's command line.
import { randomInt } from 'node:crypto';
import { PARTNERS, createPartner, type PartnerDeps, type Scene } from '../chaos/stage';
import type { Arrival, WebhookPost } from '../chaos/history';
import { recordIngress } from '../chaos/ingress';
import { EmulatorClient } from '../emulator/client';
import { ONE, TWO_A } from '../harness/world';
import { eventually } from '../testkit/eventually';
import { seededNumbers } from '../testkit/rest';
import { HOST_ADDRESS, NETWORK_RANGE, NODE_PORTS } from './facts';
import { logFolder } from './pod-logs';
import { NAMESPACE, RELEASE, bmg, inNamespace } from './release';

const at = (port: number): string => `http://127.0.0.1:${port}`;
export const GATEWAY = at(NODE_PORTS.gateway);
const ROUTED_LIMIT_MS = 30_000;

interface Created {
  partner_id: string;
  partner_key: string;
  webhook_secret: string;
}

type Operator = Scene['operator'] & PartnerDeps['operator'];

/** The requests of the chaos run as commands of an operator. */
function commandLine(): Operator {
  return {
    createPartner: async ({ name, webhook_url, rate_limit_per_sec }: any) => {
      const url = webhook_url ? ['--webhook-url', webhook_url as string] : [];
      const rate = ['--rate-limit-per-sec', String(rate_limit_per_sec)];
      return bmg<Created>('partner', 'create', '--name', name as string, ...url, ...rate);
    },
    rotateKey: async ({ partner_id }: any) =>
      bmg('partner', 'rotate-key', partner_id as string, '--yes'),
    rotateWebhookSecret: async ({ partner_id, overlap_hours }: any) =>
      bmg(
        'partner',
        'rotate-webhook-secret',
        partner_id as string,
        '--overlap-hours',
        String(overlap_hours),
      ),
  } as unknown as Operator;
}

/**
 * The traffic comes from this machine, and its receivers are here: the chart's policies know of
 * neither.
 */
const POLICY = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'test-traffic', namespace: NAMESPACE },
  spec: {
    podSelector: {
      matchLabels: RELEASE,
      matchExpressions: [
        {
          key: 'app.kubernetes.io/component',
          operator: 'In',
          values: ['gateway', 'onboarding', 'messaging', 'webhooks', 'emulator'],
        },
      ],
    },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ ipBlock: { cidr: NETWORK_RANGE } }] }],
    egress: [{ to: [{ ipBlock: { cidr: `${HOST_ADDRESS}/32` } }] }],
  },
};

/**
 * Services of type NodePort, and a policy for them: the way in for the traffic and the way out to
 * its receivers, which survive every pod. Returns once each answers: the nodes need a moment to
 * route to them.
 */
export async function exposeRelease(): Promise<void> {
  const services = Object.entries(NODE_PORTS).map(([component, nodePort]) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `test-${component}`, namespace: NAMESPACE },
    spec: {
      type: 'NodePort',
      selector: { ...RELEASE, 'app.kubernetes.io/component': component },
      ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort }],
    },
  }));
  await inNamespace(['apply', '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...services, POLICY] }),
  });
  for (const port of Object.values(NODE_PORTS)) {
    await eventually(async () => (await fetch(at(port))).status > 0, ROUTED_LIMIT_MS);
  }
}

export interface ClusterScene extends Scene {
  /**
   * Opens the ways to a release that was installed again, whose emulator has forgotten the world,
   * and makes the world again with its subscriptions.
   */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a new world at the emulator, and creates partners of every kind. */
export async function openScene(name: string): Promise<ClusterScene> {
  const dir = logFolder(name);
  const began = performance.now();
  const now = (): number => Math.round(performance.now() - began);
  const webhooks: WebhookPost[] = [];
  const arrivals: Arrival[] = [];
  const ingress = await recordIngress(webhooks, now, HOST_ADDRESS);
  ingress.forwardTo(`${at(NODE_PORTS.webhooks)}/webhooks/upstream`);
  const emulator = new EmulatorClient(at(NODE_PORTS.emulator));
  // A world of its own: events of an earlier run have other numbers, so that none is a repetition.
  const world = randomInt(1, 100_000_000);
  const own = seededNumbers(world);
  const openWorld = async (): Promise<void> => {
    await exposeRelease();
    await emulator.reset(world);
    await emulator.configure({ webhook_url: ingress.url });
    await emulator.limits({ rate_per_sec: 'off' });
  };
  await openWorld();
  const operator = commandLine();
  const mesh = {
    dir,
    base_url: `${GATEWAY}/v1`,
    emulator,
    env: { KEY_PEPPER: 'local-pepper-not-for-production' },
  };
  const scene: Scene = { mesh, operator, ingress, partners: [], arrivals, webhooks, now };
  for (const kind of PARTNERS) {
    const number = kind.number === ONE ? own.ONE : kind.number === TWO_A ? own.TWO_A : own.TWO_B;
    scene.partners.push(
      await createPartner(
        { ...kind, number },
        { mesh, operator, arrivals, now, host: HOST_ADDRESS },
      ),
    );
  }
  return {
    ...scene,
    async reopen() {
      await openWorld();
      for (const { waba_id } of [own.ONE, own.TWO_A]) {
        await emulator.patchAccount(waba_id, { subscribed: true });
      }
    },
    async close() {
      for (const { receiver, partner_id } of scene.partners) {
        await bmg('partner', 'update', partner_id, '--status', 'suspended');
        await receiver?.close();
      }
      await ingress.close();
    },
  };
}
