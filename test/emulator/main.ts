// Starts the emulator as a separate process. Settings come from the environment; see --help.
import { defaults, type EmulatorConfig } from './config';
import { startEmulator } from './index';

const STOP_MAX_MS = 5000;

const SETTINGS: ReadonlyArray<[name: string, option: keyof EmulatorConfig, meaning: string]> = [
  ['EMULATOR_HOST', 'host', 'listening address'],
  ['EMULATOR_PORT', 'port', 'listening port, 0 for any free one'],
  ['EMULATOR_PUBLIC_URL', 'public_url', 'base of the URLs it returns, if not http://host:port'],
  ['EMULATOR_WEBHOOK_URL', 'webhook_url', 'receiver of the webhooks'],
  ['EMULATOR_DATA_DIR', 'data_dir', 'folder that keeps accounts, subscriptions and media'],
  ['UPSTREAM_API_VERSION', 'api_version', 'the only version that it accepts'],
  ['UPSTREAM_APP_ID', 'app_id', 'the app'],
  ['UPSTREAM_APP_SECRET', 'app_secret', 'its secret, which also signs the webhooks'],
  ['UPSTREAM_VERIFY_TOKEN', 'verify_token', 'sent when the receiver is verified'],
  ['UPSTREAM_CONFIG_ID', 'config_id', 'the configuration of the sign-up'],
];

const HELP = `Upstream emulator: stands in for the upstream messaging platform on this machine.

  node test/dist/emulator/main.js

Environment (default):
${SETTINGS.map(
  ([name, option, meaning]) => `  ${name.padEnd(23)} ${meaning} (${defaults[option] || 'none'})`,
).join('\n')}

Seed, control interface and examples: test/emulator/README.md
`;

function optionsFrom(env: NodeJS.ProcessEnv): Partial<EmulatorConfig> {
  const given = SETTINGS.flatMap(([name, option]): Array<[string, string | number]> => {
    const value = env[name];
    if (!value) return [];
    if (option === 'public_url') return [[option, value.replace(/\/+$/, '')]];
    if (option !== 'port') return [[option, value]];
    if (!/^\d+$/.test(value)) fail(`${name} must be a whole number from 0`);
    return [[option, Number(value)]];
  });
  return Object.fromEntries(given);
}

function fail(message: string): never {
  process.stderr.write(`emulator: ${message}\n`);
  process.exit(78);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(HELP);
    return;
  }
  const emulator = await startEmulator(optionsFrom(process.env));
  process.stdout.write(
    `emulator: listening on ${emulator.url}/${emulator.config.api_version}, webhooks to ${emulator.config.webhook_url}\n`,
  );
  const stop = (): void => {
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    emulator.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  fail(error instanceof Error ? error.message : String(error));
});
