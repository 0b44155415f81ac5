import { LOCAL_SECRETS, type Settings } from './mesh';

/** The addresses of a running mesh, one line each, for people. */
export function describeMesh(settings: Settings): string[] {
  const at = (name: string): string => settings[name] ?? '';
  const rows = [
    ['REST', at('BASE_URL')],
    ['Reference', `${at('PUBLIC_URL')}/docs`],
    ['Upstream webhooks', `${at('INGRESS_URL')}/webhooks/upstream`],
    [settings['EMULATOR_URL'] ? 'Upstream emulator' : 'Upstream', at('UPSTREAM_URL')],
    ['Engines', `${at('MONGO_URL')}  ${at('KAFKA_BROKERS')}  ${at('REDIS_URL')}`],
    ['Settings, logs', '.run/env, .run/<name>.log'],
  ];
  const width = Math.max(...rows.map(([title = '']) => title.length));
  const lines = rows.map(
    ([title = '', value = '']) => `${title.padEnd(width)}  ${hideSecrets(value)}`,
  );
  const fixed = Object.keys(LOCAL_SECRETS).filter((name) => at(name) === LOCAL_SECRETS[name]);
  if (fixed.length > 0)
    lines.push(`For local work only: the values of ${fixed.join(', ')} are public`);
  return lines;
}

/**
 * Masks the credentials in addresses: an engine's address from the environment may hold a password.
 */
export const hideSecrets = (address: string): string =>
  address.replaceAll(/\/\/[^/@\s]*@/g, '//***@');
