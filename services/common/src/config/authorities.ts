// Certificate authorities that a setting names, for connections to an engine.
import { readFileSync } from 'node:fs';
import { ConfigError } from './load';

/**
 * The authorities in the file, PEM. Without a file, Node's own list applies (NODE_EXTRA_CA_CERTS
 * extends it). A file without effect, because the connection is not encrypted, is a fault.
 */
export function authorities(
  setting: string,
  file: string | undefined,
  encrypted: { by: string; isOn: boolean },
): string | undefined {
  if (file === undefined) return undefined;
  if (!encrypted.isOn)
    throw new ConfigError([`${encrypted.by} is required when ${setting} is set`]);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError([`${setting} names a file that cannot be read: ${file}`]);
  }
}
