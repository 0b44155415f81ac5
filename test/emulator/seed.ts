// The emulator's initial state. The README lists it; tests and partners rely on it.
import { diagnostics } from './seed-diagnostics';
import { seedTemplates } from './seed-templates';
import { State } from './state';
import { buildAccount, buildNumber, buildTemplate, buildToken, type Account } from './types';

const PAGING_TEMPLATES = 30;
const ANALYTICS_DAYS = 10;
const DAY_S = 86_400;
const HOUR_MS = 3_600_000;

/** Eight digits of every ID name the world, so that tests can share one mesh. */
export const WORLD_MAX = 99_999_999;

/**
 * The ID of `serial` in a world: 15 digits, the first of which is the kind. World 0 is the
 * documented one.
 */
const idOf = (kind: '8' | '9', world: number, serial: number): string =>
  `${kind}${digits(world)}${String(serial).padStart(6, '0')}`;
const templatePrefix = (world: number, family: string): string => `3${digits(world)}${family}`;
const digits = (world: number): string => String(world).padStart(8, '0');

const CALLING_ON = {
  calling: {
    status: 'ENABLED',
    call_icon_visibility: 'DEFAULT',
    callback_permission_status: 'ENABLED',
  },
  storage_configuration: { status: 'DEFAULT' },
  payload_encryption: { status: 'DISABLED' },
};

/** Every world has the same accounts, numbers and tokens under different IDs. */
export function seedState(now = Date.now(), world = 0): State {
  const state = new State();
  const accounts = [1, 2, 3].map((serial) => idOf('9', world, serial)) as Accounts;
  seedOne(state, now, world, accounts[0]);
  seedTwo(state, now, world, accounts[1]);
  seedThree(state, now, world, accounts[2]);
  seedTokens(state, accounts);
  seedCustomers(state, accounts);
  return state;
}

type Accounts = [string, string, string];

/** The usual client: one coexistence number. */
function seedOne(state: State, now: number, world: number, waba_id: string): void {
  state.addAccount(buildAccount({ id: waba_id, name: 'Example Shop', ...diagnostics(waba_id) }));
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 1),
      waba_id: waba_id,
      onboarded_at: now,
      display_phone_number: '+1 555-010-0001',
      is_on_biz_app: true,
      profile: { about: 'Plants', email: 'hi@example.org', websites: ['https://example.org/'] },
    }),
  );
  seedTemplates(state, waba_id, (serial) => `${templatePrefix(world, '00000')}${serial}`);
}

/** A coexistence number, a number for the cloud API only, and one that was never registered. */
function seedTwo(state: State, now: number, world: number, waba_id: string): void {
  const account = state.addAccount(
    buildAccount({ id: waba_id, name: 'Example Market', ...diagnostics(waba_id) }),
  );
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 2),
      waba_id: waba_id,
      onboarded_at: now,
      display_phone_number: '+1 555-010-0002',
      verified_name: 'Example Market',
      is_on_biz_app: true,
    }),
  );
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 3),
      waba_id: waba_id,
      onboarded_at: now - 1 * HOUR_MS,
      display_phone_number: '+1 555-010-0003',
      verified_name: 'Example Market Support',
      messaging_limit_tier: 'TIER_100K',
      is_official_business_account: true,
      groups: 'enabled',
      settings: structuredClone(CALLING_ON),
    }),
  );
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 4),
      waba_id: waba_id,
      onboarded_at: now - 2 * HOUR_MS,
      display_phone_number: '+1 555-010-0004',
      verified_name: 'Example Market New',
      status: 'PENDING',
      quality_rating: 'UNKNOWN',
      platform_type: 'NOT_APPLICABLE',
      throughput_level: 'NOT_APPLICABLE',
      registered: false,
    }),
  );
  seedTemplates(state, waba_id, (serial) => `${templatePrefix(world, '00010')}${serial}`);
  seedAnalytics(account, now);
}

/** Long lists, an unverified number, and one with high throughput. */
function seedThree(state: State, now: number, world: number, waba_id: string): void {
  state.addAccount(
    buildAccount({
      id: waba_id,
      name: 'Example Archive',
      business_verification_status: 'not_verified',
    }),
  );
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 5),
      waba_id: waba_id,
      onboarded_at: now,
      display_phone_number: '+1 555-010-0005',
      status: 'UNVERIFIED',
      quality_rating: 'UNKNOWN',
      code_verification_status: 'NOT_VERIFIED',
      platform_type: 'NOT_APPLICABLE',
      throughput_level: 'NOT_APPLICABLE',
      registered: false,
    }),
  );
  state.addNumber(
    buildNumber({
      id: idOf('8', world, 6),
      waba_id: waba_id,
      onboarded_at: now - 1 * HOUR_MS,
      display_phone_number: '+1 555-010-0006',
      throughput_level: 'HIGH',
      messaging_limit_tier: 'TIER_UNLIMITED',
      groups: 'enabled',
      settings: structuredClone(CALLING_ON),
    }),
  );
  for (let i = 1; i <= PAGING_TEMPLATES; i += 1) {
    const serial = String(i).padStart(2, '0');
    state.addTemplate(
      buildTemplate({
        id: `${templatePrefix(world, '0002')}${serial}`,
        waba_id: waba_id,
        name: `archive_${serial}`,
        components: [{ type: 'BODY', text: `Archived text ${serial}` }],
      }),
    );
  }
}

/** A little traffic on each of the past days, so that analytics are not empty. */
function seedAnalytics(account: Account, now: number): void {
  const today = Math.floor(now / 1000 / DAY_S) * DAY_S;
  for (let day = 1; day <= ANALYTICS_DAYS; day += 1) {
    account.analytics.set(
      today - day * DAY_S,
      new Map([['15550100002', { sent: 12, delivered: 11 }]]),
    );
  }
}

function seedTokens(state: State, [first, second, third]: Accounts): void {
  const tokens = [
    buildToken({ token: 'EMULATED-TOKEN-1', waba_ids: [first] }),
    buildToken({ token: 'EMULATED-TOKEN-2', waba_ids: [second], user_id: '400000000000002' }),
    buildToken({ token: 'EMULATED-TOKEN-3', waba_ids: [third], user_id: '400000000000003' }),
    buildToken({ token: 'EMULATED-TOKEN-SYSTEM', waba_ids: 'all', lists_targets: false }),
    buildToken({ token: 'EMULATED-TOKEN-NO-PERMISSION', scopes: [], waba_ids: [first, second] }),
    buildToken({
      token: 'EMULATED-TOKEN-NO-TARGETS',
      waba_ids: [first],
      lists_targets: false,
    }),
    buildToken({
      token: 'EMULATED-TOKEN-INVALID',
      waba_ids: [first],
      invalid: {
        code: 190,
        subcode: 463,
        message: 'Error validating access token: Session has expired.',
      },
    }),
  ];
  for (const token of tokens) state.tokens.set(token.token, token);
}

function seedCustomers(state: State, accounts: Accounts): void {
  for (const [index, waba_id] of accounts.entries()) {
    const account = state.accounts.get(waba_id) as Account;
    const suffix = index === 0 ? '' : String(index + 1);
    state.saveCustomer(account.portfolio.id, {
      wa_id: '15550100777',
      user_id: `US.4Qm7Zr81Kd02${suffix}`,
      parent_user_id: index === 0 ? 'US.ENT.9Pt3Lw66Ha10' : null,
      name: 'Ada',
      username: 'ada.l',
      call_permission: true,
    });
    // This customer hides the phone number: only the business-scoped ID is shown.
    state.saveCustomer(account.portfolio.id, {
      wa_id: null,
      user_id: `US.7Hidden00Kd${suffix || '1'}`,
      parent_user_id: null,
      name: 'Bo',
      username: 'bo.hidden',
      call_permission: false,
    });
  }
}
