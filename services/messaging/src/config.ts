import { fields, type Loaded } from '@bmg/common/config';
import { fileSettings } from '@bmg/common/files';

export const settings = {
  ...fields.grpcServer(50052),
  METRICS_PORT: fields.port(9102, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ...fields.upstream,
  UPSTREAM_MEDIA_HOSTS: fields.text(
    'hosts beside UPSTREAM_URL’s own from which the upstream hands out files, comma-separated: they get the token',
    { default: 'lookaside.fbsbx.com' },
  ),
  GAP_REPAIR_DELAY_MS: fields.integer(
    { min: 0, max: 86_400_000, default: 3_600_000 },
    'how long after a send its missing statuses are read from the upstream’s message history; 0 turns this off',
  ),
  GAP_REPAIR_PER_MINUTE: fields.integer(
    { min: 1, max: 1_000, default: 40 },
    'maximum requests per minute to the message history, for one business account (the upstream allows 5,000 management calls an hour)',
  ),
  LEDGER_CLOSE_DAYS: fields.integer(
    { min: 0, max: 45, default: 7 },
    'days after the end of a month when its ledger is closed; 0: only by `bmg ledger close`',
  ),
  SEND_JOURNAL_DIR: fields.optional(
    fields.text(
      'folder for the journal of broadcast sends, best in memory (tmpfs): if it outlives a killed process, contacts that were certainly not sent are sent again instead of ending as `outcome_unknown`; 256 KiB for each process',
    ),
  ),
  ...fileSettings,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  TEMPLATES_ADDR: fields.optional(
    fields.serviceAddress('templates', '; without it a pre-flight knows no templates'),
  ),
  BROADCASTS_ADDR: fields.optional(
    fields.serviceAddress(
      'broadcasts',
      '; without it a pre-flight has no pace, and a timeline no contact of a broadcast',
    ),
  ),
  WEBHOOKS_ADDR: fields.optional(
    fields.serviceAddress('webhooks', '; without it a timeline has no events and no deliveries'),
  ),
  ALLOW_PRIVATE_URLS: fields.flag(
    'lets partner-given URLs be http and private: for local work',
    false,
  ),
};

export type Config = Loaded<typeof settings>['config'];
