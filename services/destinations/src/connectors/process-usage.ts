// Memory and CPU time of a process, as Linux reports them; undefined elsewhere, or once it has ended.
import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4_096;
/** Linux reports CPU time in this unit on all architectures that we run on. */
const TICK_MS = 10;
/** Fields of /proc/<pid>/stat after the command's name, which may hold spaces. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

const read = (pid: number, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return undefined;
  }
};

export function residentBytes(pid: number): number | undefined {
  const pages = read(pid, 'statm')?.split(' ')[1];
  return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
}

export function cpuTimeMs(pid: number): number | undefined {
  const stat = read(pid, 'stat');
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}
