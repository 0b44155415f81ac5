// The emulator's settings, from the environment (main.ts) or from a test (startEmulator).

export interface EmulatorOptions {
  host?: string;
  /** 0 takes any free port. */
  port?: number;
  webhook_url?: string;
  /** Base of the URLs that the emulator returns (media, paging, dialog). */
  public_url?: string;
  api_version?: string;
  app_id?: string;
  app_secret?: string;
  verify_token?: string;
  config_id?: string;
  message_log_max?: number;
  request_log_max?: number;
  /** Folder that keeps the world and its media over a restart; empty: nothing is kept. */
  data_dir?: string;
}

export interface EmulatorConfig {
  host: string;
  port: number;
  webhook_url: string;
  public_url: string;
  api_version: string;
  app_id: string;
  app_secret: string;
  verify_token: string;
  config_id: string;
  message_log_max: number;
  request_log_max: number;
  data_dir: string;
}

export const defaults: EmulatorConfig = {
  host: '127.0.0.1',
  port: 8090,
  webhook_url: 'http://127.0.0.1:8081/webhooks/upstream',
  public_url: '',
  api_version: 'v26.0',
  app_id: 'app-local',
  app_secret: 'app-secret-local',
  verify_token: 'verify-local',
  config_id: 'config-local',
  message_log_max: 200_000,
  request_log_max: 10_000,
  data_dir: '',
};

export function withDefaults(options: EmulatorOptions): EmulatorConfig {
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  return { ...defaults, ...given };
}
