import path from 'node:path';

/** The same from src (tests) and from dist. */
export const LOCAL = path.resolve(__dirname, '..');
export const ROOT = path.resolve(LOCAL, '../..');
/** Where `make up` keeps its processes, their data and logs. */
export const RUN_DIR = path.join(ROOT, '.run');
/**
 * What was downloaded or unpacked: shared by all folders that engines run in, and kept by `make
 * clean`.
 */
export const DOWNLOADS = path.join(RUN_DIR, 'engines');
