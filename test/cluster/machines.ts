// The machines of the cluster: one container each with the rights of a machine, on a network of
// their own.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { spawn } from 'node:child_process';
import {
  API_PORT,
  HOST_ADDRESS,
  MACHINES,
  NETWORK,
  NETWORK_RANGE,
  NODE_PORTS,
  type Machine,
} from './facts';
import { docker, dockerEnvironment, exists } from './docker';
import { keysOf } from './keys';
import { words } from './run';

const MEBIBYTE = 1024 * 1024;
const LABEL = 'bmg.cluster=true';
const REMOVE_LIMIT_MS = 5 * 60_000;
const LOAD_LIMIT_MS = 15 * 60_000;

/** Starts the machines that do not run. */
export async function startMachines(): Promise<void> {
  if (!(await exists('network', NETWORK))) {
    const range = words`--subnet ${NETWORK_RANGE} --gateway ${HOST_ADDRESS}`;
    await docker(words`network create --label ${LABEL} ${range} ${NETWORK}`);
  }
  for (const machine of MACHINES) {
    if (await exists('container', machine.name)) await docker(['start', machine.name]);
    else await docker(['run', ...machineOptions(machine), 'bmg-cluster/machine:1']);
  }
}

/** Bits of the kernel's capability sets that some virtual machines do not grant. */
const CAPABILITIES: ReadonlyArray<[string, bigint]> = [
  ['SYS_MODULE', 16n],
  ['SYS_RAWIO', 17n],
  ['SYS_BOOT', 22n],
  ['SYS_RESOURCE', 24n],
  ['SYS_TIME', 25n],
];

/** Works like --privileged, which fails if this machine itself lacks one of all capabilities. */
function privileges(): string[] {
  const status = readFileSync('/proc/self/status', 'utf8');
  const granted = BigInt(`0x${/^CapBnd:\s+(\w+)$/m.exec(status)?.[1] ?? 'ffffffff'}`);
  const missing = CAPABILITIES.filter(([, bit]) => ((granted >> bit) & 1n) === 0n);
  const open = ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'];
  return [
    ...['--cap-add', 'ALL', ...missing.flatMap(([name]) => ['--cap-drop', name])],
    ...open.flatMap((one) => ['--security-opt', one]),
    ...['--device-cgroup-rule', 'a *:* rwm', '--device', '/dev/kmsg'],
  ];
}

function machineOptions(machine: Machine): string[] {
  const { name, role, address, pod_range, memory } = machine;
  const routes = MACHINES.filter((one) => one.pod_range && one !== machine).map(
    (one) => `${one.pod_range},${one.address}`,
  );
  // What the host has above the limit of this container is not for pods.
  const limit = Number.parseInt(memory, 10) * 1024;
  const reserved = Math.max(0, Math.floor(totalmem() / MEBIBYTE) - limit);
  const variables = {
    ROLE: role,
    NAME: name,
    ADDRESS: address,
    POD_RANGE: pod_range,
    ROUTES: routes.join(' '),
    RESERVED: `${reserved}Mi`,
  };
  const ports = Object.values(NODE_PORTS).map((port) => `${port}:${port}`);
  const published = role === 'control' ? [`${API_PORT}:6443`, ...ports] : [];
  return [
    ...words`--detach --name ${name} --hostname ${name} --label ${LABEL}`,
    ...privileges(),
    ...words`--cgroupns private --memory ${memory} --network ${NETWORK} --ip ${address}`,
    // An overlay file system cannot hold another: images, pods and etcd are on volumes.
    ...words`--volume /var --tmpfs /run --tmpfs /tmp --volume ${keysOf(machine)}:/etc/bmg:ro`,
    ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...published.flatMap((one) => ['--publish', `127.0.0.1:${one}`]),
  ];
}

/** Removes machines and network; true if there were any. */
export async function removeMachines(): Promise<boolean> {
  const found: string[] = [];
  for (const { name } of MACHINES) if (await exists('container', name)) found.push(name);
  // Each has gigabytes of images in its volume.
  for (const name of found) {
    await docker(['rm', '--force', '--volumes', name], { limit_ms: REMOVE_LIMIT_MS });
  }
  const has_network = await exists('network', NETWORK);
  if (has_network) await docker(['network', 'rm', NETWORK]);
  return found.length > 0 || has_network;
}

/** Copies images into the containerd of a machine. */
export function loadImages(machine: Machine, tags: string[]): Promise<void> {
  const env = dockerEnvironment();
  return new Promise((done, failed) => {
    const save = spawn('docker', ['save', ...tags], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const load = spawn(
      'docker',
      words`exec --interactive ${machine.name} ctr --namespace k8s.io images import -`,
      { env, stdio: [save.stdout, 'ignore', 'inherit'], timeout: LOAD_LIMIT_MS },
    );
    save.once('error', failed);
    load.once('error', failed);
    load.once('close', (code) =>
      code === 0 ? done() : failed(new Error(`failed to load images into ${machine.name}`)),
    );
  });
}
