// Starts the emulator as a separate process. Settings come from the environment; see --help.
import { defaults, type EmulatorOptions } from './config';
import { startEmulator } from './index';

const STOP_MAX_MS = 5000;

const HELP = `Upstream emulator: stands in for the upstream messaging platform on this machine.

  node test/dist/emulator/main.js

Environment (default):
  EMULATOR_HOST           ${defaults.host}
  EMULATOR_PORT           ${defaults.port}, 0 for any free one
  EMULATOR_PUBLIC_URL     base of the URLs it returns (http://host:port)
  EMULATOR_WEBHOOK_URL    ${defaults.webhook_url}
  EMULATOR_DATA_DIR       folder that keeps accounts, subscriptions and media over a restart (none)
  EMULATOR_MESSAGE_LOG    ${defaults.message_log_max} accepted sends in the log
  EMULATOR_REQUEST_LOG    ${defaults.request_log_max} requests in the log
  UPSTREAM_API_VERSION    ${defaults.api_version}
  UPSTREAM_APP_ID         ${defaults.app_id}
  UPSTREAM_APP_SECRET     ${defaults.app_secret}
  UPSTREAM_VERIFY_TOKEN   ${defaults.verify_token}
  UPSTREAM_CONFIG_ID      ${defaults.config_id}

Seed, control interface and examples: test/emulator/README.md
`;

function optionsFrom(env: NodeJS.ProcessEnv): EmulatorOptions {
  const options: EmulatorOptions = {};
  const text = (name: string, set: (value: string) => void): void => {
    const value = env[name];
    if (value !== undefined && value !== '') set(value);
  };
  const whole = (name: string, min: number, set: (value: number) => void): void =>
    text(name, (value) => {
      const parsed = Number(value);
      if (!Number.isInteger(parsed) || parsed < min)
        fail(`${name} must be a whole number from ${min}`);
      set(parsed);
    });
  text('EMULATOR_HOST', (value) => (options.host = value));
  whole('EMULATOR_PORT', 0, (value) => (options.port = value));
  text('EMULATOR_PUBLIC_URL', (value) => (options.public_url = value.replace(/\/+$/, '')));
  text('EMULATOR_WEBHOOK_URL', (value) => (options.webhook_url = value));
  text('EMULATOR_DATA_DIR', (value) => (options.data_dir = value));
  whole('EMULATOR_MESSAGE_LOG', 1, (value) => (options.message_log_max = value));
  whole('EMULATOR_REQUEST_LOG', 1, (value) => (options.request_log_max = value));
  text('UPSTREAM_API_VERSION', (value) => (options.api_version = value));
  text('UPSTREAM_APP_ID', (value) => (options.app_id = value));
  text('UPSTREAM_APP_SECRET', (value) => (options.app_secret = value));
  text('UPSTREAM_VERIFY_TOKEN', (value) => (options.verify_token = value));
  text('UPSTREAM_CONFIG_ID', (value) => (options.config_id = value));
  return options;
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
