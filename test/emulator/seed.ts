// The emulator's initial state. The README lists it; tests and partners rely on it.
import { diagnostics } from './seed-diagnostics';
import { seedTemplates } from './seed-templates';
import { State } from './state';
import {
  buildAccount,
  buildCustomer,
  buildNumber,
  buildTemplate,
  buildToken,
  type Account,
  type BusinessNumber,
} from './types';

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
  const [one, two, three] = accounts;
  /** `hours`: the time since the number was connected. */
  const number = (serial: number, waba_id: string, hours: number, own: Partial<BusinessNumber>) => {
    const onboarded_at = now - hours * HOUR_MS;
    const display_phone_number = `+1 555-010-000${serial}`;
    const id = idOf('8', world, serial);
    state.addNumber(buildNumber({ display_phone_number, onboarded_at, ...own, id, waba_id }));
  };
  // The usual client: one coexistence number.
  state.addAccount(buildAccount({ id: one, name: 'Example Shop', ...diagnostics(one) }));
  const profile = { about: 'Plants', email: 'hi@example.org', websites: ['https://example.org/'] };
  number(1, one, 0, { is_on_biz_app: true, profile });
  seedTemplates(state, one, (serial) => `${templatePrefix(world, '00000')}${serial}`);
  // A coexistence number, a number for the cloud API only, and one that was never registered.
  const market = { id: two, name: 'Example Market', ...diagnostics(two) };
  seedAnalytics(state.addAccount(buildAccount(market)), now);
  number(2, two, 0, { verified_name: 'Example Market', is_on_biz_app: true });
  number(3, two, 1, {
    ...withCallsAndGroups(),
    verified_name: 'Example Market Support',
    messaging_limit_tier: 'TIER_100K',
    is_official_business_account: true,
  });
  number(4, two, 2, { ...UNREGISTERED, verified_name: 'Example Market New', status: 'PENDING' });
  seedTemplates(state, two, (serial) => `${templatePrefix(world, '00010')}${serial}`);
  // Long lists, an unverified number, and one with high throughput.
  const archive = { name: 'Example Archive', business_verification_status: 'not_verified' };
  state.addAccount(buildAccount({ id: three, ...archive }));
  const unverified = { status: 'UNVERIFIED', code_verification_status: 'NOT_VERIFIED' };
  number(5, three, 0, { ...UNREGISTERED, ...unverified });
  number(6, three, 1, {
    ...withCallsAndGroups(),
    throughput_level: 'HIGH',
    messaging_limit_tier: 'TIER_UNLIMITED',
  });
  seedArchive(state, three, templatePrefix(world, '0002'));
  seedTokens(state, accounts);
  seedCustomers(state, accounts);
  return state;
}

type Accounts = [string, string, string];

const UNREGISTERED = {
  quality_rating: 'UNKNOWN',
  platform_type: 'NOT_APPLICABLE',
  throughput_level: 'NOT_APPLICABLE',
  registered: false,
};

const withCallsAndGroups = () => ({
  groups: 'enabled' as const,
  settings: structuredClone(CALLING_ON),
});

function seedArchive(state: State, waba_id: string, prefix: string): void {
  for (let i = 1; i <= PAGING_TEMPLATES; i += 1) {
    const serial = String(i).padStart(2, '0');
    const components = [{ type: 'BODY', text: `Archived text ${serial}` }];
    const own = { id: `${prefix}${serial}`, waba_id, name: `archive_${serial}`, components };
    state.addTemplate(buildTemplate(own));
  }
}

/** A little traffic on each of the past days, so that analytics are not empty. */
function seedAnalytics(account: Account, now: number): void {
  const today = Math.floor(now / 1000 / DAY_S) * DAY_S;
  for (let day = 1; day <= ANALYTICS_DAYS; day += 1) {
    const counts = new Map([['15550100002', { sent: 12, delivered: 11 }]]);
    account.analytics.set(today - day * DAY_S, counts);
  }
}

function seedTokens(state: State, [first, second, third]: Accounts): void {
  const tokens = [
    buildToken({ token: 'EMULATED-TOKEN-1', waba_ids: [first] }),
    buildToken({ token: 'EMULATED-TOKEN-2', waba_ids: [second], user_id: '400000000000002' }),
    buildToken({ token: 'EMULATED-TOKEN-3', waba_ids: [third], user_id: '400000000000003' }),
    buildToken({ token: 'EMULATED-TOKEN-SYSTEM', waba_ids: 'all', lists_targets: false }),
    buildToken({ token: 'EMULATED-TOKEN-NO-TARGETS', waba_ids: [first], lists_targets: false }),
    buildToken({ token: 'EMULATED-TOKEN-NO-PERMISSION', scopes: [], waba_ids: [first, second] }),
    buildToken({ token: 'EMULATED-TOKEN-INVALID', waba_ids: [first], expires_at: 1 }),
  ];
  for (const token of tokens) state.tokens.set(token.token, token);
}

function seedCustomers(state: State, accounts: Accounts): void {
  for (const [index, waba_id] of accounts.entries()) {
    const account = state.accounts.get(waba_id) as Account;
    const suffix = index === 0 ? '' : String(index + 1);
    const ada = buildCustomer({
      wa_id: '15550100777',
      user_id: `US.4Qm7Zr81Kd02${suffix}`,
      parent_user_id: index === 0 ? 'US.ENT.9Pt3Lw66Ha10' : null,
      name: 'Ada',
      username: 'ada.l',
      call_permission: true,
    });
    state.saveCustomer(account.portfolio.id, ada);
    // This customer hides the phone number: only the business-scoped ID is shown.
    const user_id = `US.7Hidden00Kd${suffix || '1'}`;
    const bo = buildCustomer({ user_id, name: 'Bo', username: 'bo.hidden' });
    state.saveCustomer(account.portfolio.id, bo);
  }
}
