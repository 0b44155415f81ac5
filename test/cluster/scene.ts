// The parties around the release, as the chaos run has them: partners with receivers, the upstream
// whose webhooks are recorded on their way to the ingress, and the operator's command line.
import { randomInt } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PARTNERS, createPartner, type PartnerDeps, type Scene } from '../chaos/stage';
import type { Arrival, WebhookPost } from '../chaos/history';
import { recordIngress } from '../chaos/ingress';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { seededNumbers } from '../testkit/rest';
import { docker } from './docker';
import { HOST_ADDRESS, NETWORK_RANGE, NODE_PORTS, NODES, STATE } from './facts';
import { IN_NAMESPACE, NAMESPACE, RELEASE, bmg } from './release';
import { apply, words } from './run';

const at = (port: number): string => `http://127.0.0.1:${port}`;
export const GATEWAY = at(NODE_PORTS.gateway);
const ROUTED_LIMIT_MS = 30_000;
const LOGS = '/var/log/pods';
const KEPT = '/var/log/kept';
const PID_FILE = '/run/keep-logs.pid';
/** The emulator stands in for the upstream, which may log its own secrets. */
const LEFT_OUT = '-emulator-';
const COPY_LIMIT_MS = 120_000;

interface Created {
  partner_id: string;
  partner_key: string;
  webhook_secret: string;
}

type Operator = Scene['operator'] & PartnerDeps['operator'];

/** The requests of the chaos run as commands of an operator. */
function commandLine(): Operator {
  return {
    createPartner: async ({ name, webhook_url, rate_limit_per_sec: rate }: any) => {
      const url = webhook_url ? ['--webhook-url', webhook_url as string] : [];
      return bmg<Created>(
        ...words`partner create --name ${name} ${url} --rate-limit-per-sec ${rate}`,
      );
    },
    rotateKey: async ({ partner_id }: any) => bmg(...words`partner rotate-key ${partner_id} --yes`),
    rotateWebhookSecret: async ({ partner_id, overlap_hours }: any) =>
      bmg(...words`partner rotate-webhook-secret ${partner_id} --overlap-hours ${overlap_hours}`),
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
  await apply([...services, POLICY], IN_NAMESPACE);
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
    const deps = { mesh, operator, arrivals, now, host: HOST_ADDRESS };
    scene.partners.push(await createPartner(kind, own[kind.number], deps));
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

/**
 * Keeps the logs of all pods from now on: a node deletes those of a pod with the pod, so each gets
 * a second name there. `collect` ends it, and writes them into `dir`, a file for each container.
 */
export async function keepPodLogs(dir: string): Promise<{ collect(): Promise<void> }> {
  const script =
    `echo $$ > ${PID_FILE}; rm -rf ${KEPT}; mkdir ${KEPT}; ` +
    `while sleep 1; do cp --archive --link --no-clobber ${LOGS}/${NAMESPACE}_* ${KEPT}; done`;
  for (const { name } of NODES) await docker(words`exec --detach ${name} sh -c ${script}`);
  return {
    async collect() {
      for (const { name } of NODES) {
        const end = `kill "$(cat ${PID_FILE})"`;
        await docker(words`exec ${name} sh -c ${end}`);
        const copied = join(dir, name);
        rmSync(copied, { recursive: true, force: true });
        await docker(['cp', `${name}:${KEPT}`, copied], { limit_ms: COPY_LIMIT_MS });
        flatten(copied, dir);
      }
    },
  };
}

/** Moves `<namespace>_<pod>_<id>/<container>/<serial>.log` of `from` to one file name each. */
function flatten(from: string, to: string): void {
  for (const found of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!found.endsWith('.log') || found.includes(LEFT_OUT)) continue;
    renameSync(join(from, found), join(to, found.replaceAll('/', '.')));
  }
  rmSync(from, { recursive: true });
}

/** An empty folder for the logs of a check. */
export function logFolder(name: string): string {
  const dir = join(STATE, 'logs', name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}
