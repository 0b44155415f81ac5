// Which processes of the mesh are alive in a folder.
import path from 'node:path';
import type { EngineName } from './engine';
import { findProcess, STOP_ORDER, type MeshProcessName, type ProcessName } from './mesh';
import { findPid } from './processes';
import { ENGINES, engineMarker } from './start-engines';

const isEngine = (name: ProcessName): name is EngineName => name in ENGINES;

/**
 * Part of the command line by which a process of the mesh is told from a stranger with the same
 * pid.
 */
export const markerOf = (name: ProcessName, dir: string): string =>
  isEngine(name) ? engineMarker(name, dir) : findProcess(name as MeshProcessName).entry;

export const pidOf = (name: ProcessName, dir: string): number | undefined =>
  findPid(path.resolve(dir), name, markerOf(name, dir));

export const runningIn = (dir: string): ProcessName[] =>
  STOP_ORDER.flat().filter((name) => pidOf(name, dir) !== undefined);
