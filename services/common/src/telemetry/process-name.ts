import { basename, dirname } from 'node:path';

/** The folder of the service that runs: services/messaging/dist/main.js → messaging. */
export const PROCESS_NAME = basename(dirname(dirname(process.argv[1] ?? 'bmg/dist/main.js')));
