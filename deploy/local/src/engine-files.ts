// The files of the local engines, for images of them: the same jars and binaries that `make up`
// runs.
import { requireClasses, requireJars } from './jars';
import { SOURCE } from './engine-mongo';
import { unpack } from './engine-redis';
import { findJava } from './tools';

export interface EngineFiles {
  /** Folder of jars: Kafka, and the libraries of the MongoDB stand-in. */
  lib: string;
  /** Folder of the stand-in's classes. */
  classes: string;
  /** The program redis-server. */
  redis_server: string;
}

const WANTED = { what: 'the images of the engines', instead: 'install a JDK' };

/** Downloads and compiles what is missing. */
export async function engineFiles(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<EngineFiles> {
  const java = await findJava(env, WANTED);
  const lib = await requireJars(env, WANTED, log);
  const classes = await requireClasses(java, SOURCE, lib);
  return { lib, classes, redis_server: await unpack(lib) };
}
