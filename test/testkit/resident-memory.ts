import { readFileSync } from 'node:fs';

/**
 * The memory that the process has now, in MiB. Throws without the process, or on a system without
 * /proc.
 */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
