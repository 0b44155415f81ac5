// The emulator's settings, from the environment (main.ts) or from a test (startEmulator).

export const defaults = {
  host: '127.0.0.1',
  /** 0 takes any free port. */
  port: 8090,
  webhook_url: 'http://127.0.0.1:8081/webhooks/upstream',
  /** Base of the URLs that the emulator returns (media, paging, dialog); empty: its own. */
  public_url: '',
  api_version: 'v26.0',
  app_id: 'app-local',
  app_secret: 'app-secret-local',
  verify_token: 'verify-local',
  config_id: 'config-local',
  /** Folder that keeps the world and its media over a restart; empty: nothing is kept. */
  data_dir: '',
};

export type EmulatorConfig = typeof defaults;
