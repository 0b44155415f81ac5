// Every number in the prose of the guides has a row, which compares it with the code that owns it.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { topics } from '@bmg/common/bus';
import { ANSWER_BYTES_SHARE, READ_BYTES_PER_S, READ_SHARE } from '../../gateway/src/limits/answers';
import { REFUSALS_AT_ONCE, UNCOUNTED } from '../../gateway/src/limits/load';
import { peopleOfTier } from '../../services/common/src/upstream/messaging-limit';
import { RETRY_DELAYS_MS } from '../../services/webhooks/src/delivery/retry-schedule';
import { WAITS_MS } from '../../services/webhooks/src/receivers/first-tests';
import { ROOT, SERVICES } from '../helm/facts';
import { rowOf } from './rows';

/** A phrase with `{}` for each of its numbers, and the numbers that it must have. */
type Row = [phrase: string, ...numbers: Array<number | string>];

const GUIDES = 'gateway/docs/guides';
const FORMATS = 'services/webhooks/src/delivery/formats.ts';
const BROADCASTS = 'gateway/src/endpoints/broadcasts/rows.ts';
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

/** The first group of the pattern in a file. */
function found(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(read(file)) ?? [];
  if (text === undefined) throw new Error(`${file} does not match ${pattern.source}`);
  return text;
}

/** The value of `NAME = …` or `name: …`, a calculation with numbers and constants of the file. */
function constant(file: string, name: string): number {
  const text = found(file, new RegExp(`\\b${name}(?: =|:) ([^;,\\n]+)[;,]`));
  const expression = text.replace(/\b[A-Z][A-Z_]*\b/g, (other) => `(${constant(file, other)})`);
  if (!/^[\d_ .()*/+-]+$/.test(expression)) throw new Error(`${file}: cannot evaluate ${text}`);
  return runInNewContext(expression) as number;
}

/** A constant of a service; `onboarding/ground/slots` is a module of `services/onboarding/src`. */
const own = (module: string, name: string): number =>
  constant(`services/${module.replace('/', '/src/')}.ts`, name);

/** A number in the body of a row. */
const bounds = (name: string, field: string) =>
  rowOf(name).body?.properties?.[field] as Record<'minimum' | 'maximum' | 'default', number>;

const settingOf = (service: string, name: string): number =>
  SERVICES[service]?.[name]?.default as number;

/** An upstream code that the emulator has too; the guides write its digits without commas. */
const code = (upstream_code: number): string =>
  found('test/emulator/errors.ts', new RegExp(`^ +(${upstream_code}): `, 'm'));

/** The lines of the embedding guide's program in a language, in tens. */
const linesOf = (language: string): number => {
  const program = found(`${GUIDES}/embedding.md`, new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``));
  return Math.round(program.split('\n').length / 10) * 10;
};

const waitOf = (ms: number): string =>
  ms < MINUTE ? `${ms / SECOND} s` : ms < HOUR ? `${ms / MINUTE} min` : `${ms / HOUR} h`;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KIB = 1_024;
const MIB = 1_024 * KIB;

/** The messaging platform owns these facts, and Node.js the version that has `fetch`. */
const PLATFORM = {
  history_phases: [0, 1, 90, 2, 180],
  limit_hours: 24,
  media_days: 30,
  typing_s: 25,
  node_with_fetch: 18,
};

const rate = settingOf('onboarding', 'RATE_LIMIT_PER_SEC');
const log_days = settingOf('webhooks', 'EVENT_LOG_DAYS');
const share = settingOf('webhooks', 'DELIVERY_SHARE');
const failed_days = own('webhooks/delivery/settle', 'RETENTION_MS') / DAY;
const answer_s = own('webhooks/delivery/attempt', 'ANSWER_TIMEOUT_MS') / SECOND;
const window_h = own('messaging/contacts/window', 'SERVICE_MS') / HOUR;
const entry_h = own('messaging/contacts/window', 'ENTRY_MS') / HOUR;
const kept_days = own('messaging/messages/message-record', 'MESSAGES_KEPT_DAYS');
const blocked_wrote_h = constant('test/emulator/limits.ts', 'WINDOW_MS') / HOUR;
const block_list = 'messaging/preflight/block-list';
const block_list_s = own(block_list, 'CACHED_MS') / SECOND;
const block_list_max = own(block_list, 'PAGE') * own(block_list, 'PAGES_MAX');
const audit_days = own('onboarding/accounts/audit/store', 'AUDIT_KEPT_DAYS');
const session_h = own('onboarding/accounts/sessions/rules', 'SESSION_LIFE_MS') / HOUR;
const key_overlap = bounds('POST /keys/:key_id/rotate', 'overlap_hours');
const secret_overlap_h = bounds('POST /webhook/rotate-secret', 'overlap_hours').default;
const secret = 'onboarding/ground/webhook-secret';
const shadow_hours = bounds('POST /webhook-shadows', 'hours');
const shadow_rate = bounds('POST /webhook-shadows', 'max_per_second');
const contacts = own('common/messages/recipient', 'CONTACTS_MAX');
const pace = 'broadcasts/pace/pace';
const app_per_s = own(pace, 'COEXISTENCE_PER_SEC');
const per_s = [app_per_s, own(pace, 'STANDARD_PER_SEC'), own(pace, 'HIGH_PER_SEC')];
const media = 'messaging/media/limits';
const content = 'messaging/send/content';
const link_min = own('onboarding/connect/sign-up/connect-session', 'OPENS_S') / 60;
const repeated_h = own('common/idempotency/once', 'RETENTION_MS') / HOUR;
const body_mib = constant('gateway/src/endpoints/parts/body-limits.ts', 'BODY_LIMIT_BYTES') / MIB;
const replay_window_min = Number(found(`${GUIDES}/receiving.md`, /WINDOW_S = (\d+)/)) / 60;
const tiers = ['250', '1K', '2K', '10K', '100K'].map((tier) => peopleOfTier(`TIER_${tier}`) ?? 0);
const attempts = [...RETRY_DELAYS_MS.map((_ms, index) => index + 1), RETRY_DELAYS_MS.length + 1];
const waits = RETRY_DELAYS_MS.map(waitOf);

const ROWS: Record<string, Row[]> = {
  'agents.md': [
    ['A request has up to {} MiB and one message', body_mib],
    ['An answer has up to {} MiB', constant('gateway/src/mcp/calls.ts', 'RESULT_BYTES_MAX') / MIB],
    ['AsyncAPI {}:', found('gateway/src/openapi/asyncapi.ts', /asyncapi: '(\d+)/)],
  ],
  'answers.md': [
    ['kept in your log for {}.', log_days],
    ['{} for an account locked by the platform', code(131031)],
    ["for {} hours after the customer's last message", window_h],
    ['later it fails with {}', code(131047)],
    ['as they come, for up to {} days', log_days],
    ['{} a second unless your operator set another rate', rate],
    ['the log, which keeps them for {} days', log_days],
    ['during the overlap, {} hours unless you say otherwise', key_overlap.default],
    ['every change of {} days', audit_days],
    ['customers who wrote in the last {} hours', blocked_wrote_h],
    ['a later send to them fails with {}', code(131026)],
  ],
  'audit.md': [
    ['or the operator made, for {} days', audit_days],
    ['at most {} changes on a day', settingOf('onboarding', 'AUDITED_CHANGES_MAX')],
    ['at most {}. `before`', own('onboarding/accounts/audit/handlers', 'EXPORT_RECORDS_MAX')],
  ],
  'authentication.md': [['ends after {} hours or a key rotation', session_h]],
  'broadcasts.md': [
    ['up to {} contacts at the pace of the number', contacts],
    ['More than {} contacts are refused', contacts],
    ['sends {} messages a second, others {}, or {} once upgraded', ...per_s],
    ['customers in {} hours', PLATFORM.limit_hours],
  ],
  'client.md': [
    ['Node.js {} or newer', found('gateway/client/package.json', /"node": ">=([\d.]+)"/)],
    ['Python {} or newer', found('gateway/clients/python/pyproject.toml', /python = ">=([\d.]+)"/)],
    ['Go {} or newer', found('gateway/clients/go/go.mod', /^go (\d+\.\d+)/m)],
    ['Java {} or newer', found('gateway/clients/java/pom.xml', /compiler\.release>(\d+)</)],
  ],
  'coexistence.md': [
    ['within {} hours of', own('onboarding/connect/sync/coexistence-sync', 'WINDOW_MS') / HOUR],
    ['({}: the last day, {}: up to {} days ago, {}: up to {} days', ...PLATFORM.history_phases],
    ['{} messages a second', app_per_s],
  ],
  'costs.md': [
    ['the {}-hour customer service window and the {}-hour free', window_h, entry_h],
    ['may write to in {} hours outside an open window', PLATFORM.limit_hours],
    ['`unknown` for the first {} hours', window_h],
    ['in the last {} seconds, or beyond the first {} of', block_list_s, block_list_max],
    ['from the upstream at most every {} seconds', block_list_s],
    ['the send fails with {}', code(131026)],
    ['A test sends {} random messages', constant('test/e2e/preflight.e2e.test.ts', 'MESSAGES')],
    ['it works for {} days', kept_days],
    ['and the amount {}, until then', 0],
    ['Entries are kept for {} days', kept_days],
    ['totals of closed months for {}.', own('messaging/ledger/months', 'LEDGER_KEPT_DAYS')],
    ['a market and category start at {}', 0],
  ],
  'embedding.md': [
    ['two files of about {} lines each', linesOf('js')],
    ['two files of about {} lines each', linesOf('html')],
    ['of up to {} characters', own('onboarding/connect/sign-up/handlers', 'STATE_MAX')],
    ['Node.js {} or newer', PLATFORM.node_with_fetch],
    ['at most {}: in', own('onboarding/ground/partner-url', 'CONNECT_ORIGINS_MAX')],
    ['can be opened for {} minutes', link_min],
  ],
  'endpoints.md': [
    ['with 2xx within {} seconds', answer_s],
    ['again after {} seconds, a minute', (WAITS_MS[1] ?? 0) / SECOND],
    ['{} to {} random', own(secret, 'CHOSEN_MIN_BYTES'), own(secret, 'CHOSEN_MAX_BYTES')],
    ['the answer within {} seconds, the retries', answer_s],
    ['up to {} requests', share / own('webhooks/delivery/receiver-limits', 'ENDPOINT_PART')],
    ['attempts of the last {} hours', own('webhooks/receivers/handlers', 'DAY_MS') / HOUR],
    ['the latest {} attempts', own('webhooks/receivers/store', 'RECENT_MAX')],
    ['`overlap_hours` more, {} by default', secret_overlap_h],
    ['Largest event | {} MB', own('destinations/kinds/kafka/index', 'EVENT_BYTES_MAX') / 1e6],
    ['MB | {} MiB', own('destinations/kinds/amqp/index', 'EVENT_BYTES_MAX') / MIB],
    ['MiB | {} KiB', own('destinations/kinds/sqs/index', 'EVENT_BYTES_MAX') / KIB],
    ['KiB | {} MiB', own('destinations/kinds/s3/index', 'OBJECT_BYTES_MAX') / MIB],
    ['those of the last {} hours', own('webhooks/shadows/handlers', 'DAY_MS') / HOUR],
    ['by itself, {} at most | {}', shadow_hours.maximum, shadow_hours.default],
    ['in a second, {} at most | {}', shadow_rate.maximum, shadow_rate.default],
    ['latest {} events that were', own('webhooks/shadows/store', 'DIFFERENCES_MAX')],
    ['up to {} events of the last day', own('webhooks/event-log/replay-work', 'PAGE')],
    ['[CloudEvents {}]', found(FORMATS, /SPEC_VERSION = '([\d.]+)'/)],
  ],
  'errors.md': [
    ['at most {} keys', constant('gateway/src/edge/ignored.ts', 'PATHS_MAX')],
    ['at most {} KiB', constant('gateway/src/edge/chain.ts', 'limit_bytes') / KIB],
    ['within {} hours get the first answer again', repeated_h],
    ['a call of the last {} days', own('onboarding/accounts/requests/store', 'KEPT_DAYS')],
  ],
  'keys.md': [
    ['may have {} keys', own('onboarding/accounts/keys/store', 'KEYS_MAX')],
    ['`overlap_hours` more, {} by default', key_overlap.default],
    ['With {} it stops working at once', key_overlap.minimum],
  ],
  'limits.md': [
    ['{} requests a second for each partner', rate],
    ['may have {} requests in flight', UNCOUNTED.of_holder_max],
    ['for up to {} seconds', UNCOUNTED.wait_ms / SECOND],
    ['at most {} of a partner', UNCOUNTED.waiting_of_holder_max],
    ['and {} in a process', UNCOUNTED.waiting_max],
    ['After {} refusals', REFUSALS_AT_ONCE.burst],
    ['those above {} a second', REFUSALS_AT_ONCE.per_s],
    ['may take {} MiB together', ANSWER_BYTES_SHARE / MIB],
    ['less than {} KiB a second', own('common/overload/byte-rate', 'BYTES_PER_S_MIN') / KIB],
    ['At most {} reads of logs and {} of lists', READ_SHARE.log, READ_SHARE.list],
    ['they move {} MiB a second', READ_BYTES_PER_S / MIB],
    ['A body has up to {} MiB', body_mib],
    ['`POST /broadcasts` {} MiB', constant(BROADCASTS, 'BODY_LIMIT_BYTES') / MIB],
    ['Text | {} characters', constant('gateway/src/endpoints/messages/schemas.ts', 'TEXT_MAX')],
    ['Image | {} MB', own(media, 'image') / MIB],
    ['Video, audio | {} MB', own(media, 'video') / MIB],
    ['Video, audio | {} MB', own(media, 'audio') / MIB],
    ['Document | {} MB', own(media, 'document') / MIB],
    ['Sticker | {} KB', own(media, 'STICKER_STATIC_LIMIT_BYTES') / KIB],
    ['animated {} KB', own(media, 'STICKER_ANIMATED_LIMIT_BYTES') / KIB],
    ['section | {}, {}', own(content, 'BUTTONS_MAX'), own(content, 'ROWS_MAX')],
    ['Contacts of a broadcast | {}', contacts],
    ['media | about {} days', PLATFORM.media_days],
    ['Messages a second | {} with the business app, else {}, or {} once', ...per_s],
    ['Customers in {} hours', PLATFORM.limit_hours],
    ['of the number: {}, {}, {}, {}, {}, unlimited', ...tiers],
    ['Blocked users | {};', constant('test/emulator/operations/blocking.ts', 'BLOCKLIST_MAX')],
    ['{} a request', own('number-admin/operations/blocking', 'USERS_MAX')],
    ['Ice breakers | {}', own('number-admin/operations/automation', 'PROMPTS_MAX')],
    ['Your answer to an event | {} seconds', answer_s],
    ['Events in your log, failed deliveries | {} days', log_days],
    ['Events in your log, failed deliveries | {} days', failed_days],
    ['Answers under an `Idempotency-Key` | {} hours', repeated_h],
    ['Sign-up links | {} minutes', link_min],
    ['Analytics | {} days', own('messaging/analytics/feature', 'DAYS_MAX')],
  ],
  'people.md': [
    ['may have {} people', own('onboarding/accounts/people/rules', 'PEOPLE_MAX')],
    ['up to {}, renames', own('onboarding/accounts/people/rules', 'PASSKEYS_MAX')],
    ['ends after {} hours, or half an hour', session_h],
    ['of {} sessions', own('onboarding/accounts/people/passkey-handlers', 'SESSIONS_MAX')],
  ],
  'quick-start.md': [['in the last {} hours', window_h]],
  'receiving.md': [
    ['`whsec_` and {} more characters', Math.ceil(own(secret, 'SECRET_BYTES') / 3) * 4],
    ['Any 2xx within {} seconds', answer_s],
    ['up to {} requests at once', own('webhooks/delivery/receiver-limits', 'SHARE_INITIAL')],
    ['({} unless your operator has set another limit)', share],
    ['at least {}. A body', own('webhooks/delivery/receiver-limits', 'SHARE_MIN')],
    ['A body has up to {} MiB', topics.delivery.message_limit_bytes / MIB],
    ['more than {} minutes from your clock', replay_window_min],
    ['the window of {} minutes', replay_window_min],
    ['for the overlap, {} hours', secret_overlap_h],
    ['Keep IDs for {} days', failed_days],
    ['for about {} seconds at most', own('webhooks/delivery/lane', 'HOLD_MS') / SECOND],
    [`| Attempt |${' {} |'.repeat(attempts.length)}`, ...attempts],
    [`| – | ${waits.join(' | ').replaceAll(/\d+/g, '{}')} |`, ...waits.map(Number.parseFloat)],
    ['up to {} % at random', own('webhooks/delivery/retry-schedule', 'JITTER') * 100],
    ['can be read for {} days', failed_days],
    ['`limit` is {} by default', own('webhooks/recovery/handlers', 'PAGE_DEFAULT')],
    ['overview shows it for {} days', own('onboarding/ground/partner-notices', 'KEPT_DAYS')],
    ['by default, at most {};', own('webhooks/recovery/handlers', 'PAGE_MAX')],
    ['at its position for {} days', log_days],
    ['(at most {} seconds)', own('webhooks/event-log/handlers', 'WAIT_MAX_S')],
    ['At most {} requests of a', own('webhooks/event-log/waiters', 'WAITING_OF_PARTNER_MAX')],
    ['Events are kept for {} days', log_days],
    ['four times, and after {} hours', own('webhooks/event-log/replay', 'life_ms') / HOUR],
    ['on `PORT` ({})', found(`${GUIDES}/receiving.md`, /env\.PORT \?\? (\d+)/)],
  ],
  'sending.md': [
    ['Outside the {}-hour window', window_h],
    ['closes {} hours after', window_h],
    ['lasts about {} days', PLATFORM.media_days],
    ['Up to {} cards', own('common/messages/recipient', 'CONTACT_CARDS_MAX')],
    ['for {} seconds', PLATFORM.typing_s],
  ],
  'templates.md': [['outside the {}-hour window', window_h]],
};

const IN_ROW = '(?<![\\d.,])(\\d+(?:[.,]\\d+)*)';
const NUMBER = /(?<![\w.])\d+(?:[.,]\d+)*(?!\w)/g;
const MONTHS =
  'January|February|March|April|May|June|July|August|September|October|November|December';
/** 200, 400 and 500 are statuses only before an error code or after these words. */
const STATUS =
  /\b(?:204|4(?:0[1-9]|1\d|2[29])|50[1-4])\b|\b[245]00(?=\s+`)|(?<=gets |status: )[24]00/g;
/** What has numbers that are no facts. */
const SKIPPED = [
  /^( *)```[^]*?^\1```$/gm,
  STATUS,
  /`[^`]+`/g,
  /(?<=\])\([^)]*\)/g,
  /^(?:\s*|#+ +)\d+\. /gm,
  new RegExp(`\\d{4}-\\d\\d-\\d\\d|\\d{1,2} (?:${MONTHS})(?: \\d{4})?|\\b20\\d\\d\\b`, 'g'),
];
const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

function faultsOf(guide: string, rows: Row[]): string[] {
  const text = read(`${GUIDES}/${guide}`);
  const lineAt = (index: number) => `${guide}:${text.slice(0, index).split('\n').length}`;
  const covered = new Set<number>();
  const faults: string[] = [];
  for (const [phrase, ...numbers] of rows) {
    const parts = phrase
      .split('{}')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+'));
    const matches = [...text.matchAll(new RegExp(parts.join(IN_ROW), 'dg'))];
    if (matches.length === 0) faults.push(`${guide} does not say “${phrase}”`);
    for (const match of matches) {
      for (const [place, number] of numbers.entries()) {
        const [start] = match.indices?.[place + 1] as [number, number];
        const wanted = typeof number === 'number' ? number.toLocaleString('en-US') : number;
        const actual = match[place + 1] as string;
        covered.add(start);
        if (actual !== wanted)
          faults.push(`${lineAt(start)}: ${actual} in “${phrase}”, but the code has ${wanted}`);
      }
    }
  }
  let prose = text;
  for (const pattern of SKIPPED) prose = prose.replaceAll(pattern, blank);
  for (const { index, 0: number } of prose.matchAll(NUMBER)) {
    if (!covered.has(index)) faults.push(`${lineAt(index)}: no row has the number ${number}`);
  }
  return faults;
}

const names = readdirSync(resolve(ROOT, GUIDES)).filter((name) => name.endsWith('.md'));

test.each(names)('every number of %s is the one that the code has', (guide) => {
  expect(faultsOf(guide, ROWS[guide] ?? [])).toEqual([]);
});

test('only guides have rows', () => {
  expect(Object.keys(ROWS).filter((guide) => !names.includes(guide))).toEqual([]);
});
