import path from 'node:path';

/** Resolves to one folder from src (tests) and from dist. */
export const LOCAL = path.resolve(__dirname, '..');
export const ROOT = path.resolve(LOCAL, '../..');
/** Where `make up` keeps pid files, data and logs. */
export const RUN_DIR = path.join(ROOT, '.run');
/** Downloaded and unpacked files: shared by all folders with engines, and kept by `make clean`. */
export const DOWNLOADS = path.join(RUN_DIR, 'engines');
