// The memory of a mesh's processes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './yaml';

const LOOK_MS = 20;

/**
 * The memory that the process has now, in MiB. Throws without the process, or on a system without
 * /proc.
 */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}

/** Prints how far each of these processes grew above its memory before the work, in MiB. */
export async function growthDuring<T, Name extends string>(
  what: string,
  { names, pid }: { names: readonly Name[]; pid(name: Name): number },
  work: () => Promise<T>,
): Promise<{ result: T; grown_mib: number[] }> {
  const mibOf = (name: Name): number => {
    try {
      return residentMib(pid(name));
    } catch {
      return 0;
    }
  };
  const before = names.map(mibOf);
  const peak = [...before];
  const timer = setInterval(() => {
    for (const [at, name] of names.entries()) peak[at] = Math.max(peak[at] ?? 0, mibOf(name));
  }, LOOK_MS);
  const result = await work().finally(() => clearInterval(timer));
  const grown_mib = peak.map((mib, at) => mib - (before[at] ?? 0));
  const shown = names.map(
    (name, at) => `${name} ${before[at]?.toFixed(0)} MiB, +${grown_mib[at]?.toFixed(0)} at peak`,
  );
  process.stdout.write(`  ${what}: ${shown.join('; ')}\n`);
  return { result, grown_mib };
}

/** The memory limit of each service's pod, in MiB. */
export function podMemories(): (name: string) => number {
  const values = load(readFileSync(join(__dirname, '../../helm/values.yaml'), 'utf8')) as {
    services: Record<string, { resources: { limits: { memory: string } } }>;
  };
  return (name) => {
    const limit = values.services[name]?.resources.limits.memory as string;
    return Number.parseInt(limit, 10) * (limit.endsWith('Gi') ? 1_024 : 1);
  };
}
