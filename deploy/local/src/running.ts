// Finds the running processes of the mesh in a folder.
import path from 'node:path';
import type { EngineName } from './engine';
import { findProcess, STOP_ORDER, type MeshProcessName, type ProcessName } from './mesh';
import { findPid } from './processes';
import { ENGINES, engineMarker } from './start-engines';

const isEngine = (name: ProcessName): name is EngineName => name in ENGINES;

/** The part of a process's command line that another process with a reused pid does not have. */
export const markerOf = (name: ProcessName, dir: string): string =>
  isEngine(name) ? engineMarker(name, dir) : findProcess(name as MeshProcessName).entry;

export const pidOf = (name: ProcessName, dir: string): number | undefined =>
  findPid(path.resolve(dir), name, markerOf(name, dir));

export const runningIn = (dir: string): ProcessName[] =>
  STOP_ORDER.flat().filter((name) => pidOf(name, dir) !== undefined);
