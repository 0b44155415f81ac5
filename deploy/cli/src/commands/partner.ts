// `bmg partner …`: partners with their keys, webhook secrets and settings.
import { Option, type Command } from 'commander';
import { PARTNER_STATUSES } from '@bmg/common/directory';
import { PARTNER_SEVERITIES } from '@bmg/common/notices';
import { PaymentsDefinition } from '@bmg/proto/billing';
import {
  OperatorDefinition,
  type CreatePartnerRequest,
  type CreatePartnerResponse,
  type Partner,
  type UpdatePartnerRequest,
} from '@bmg/proto/onboarding';
import type { PartnerContacts } from '@bmg/proto/settings';
import { action, adder, count, record, wholeNumber, type Answer } from '../action';
import { change } from '../recorded';
import { rejected, UsageError, type Session } from '../session';

interface Overlap {
  overlap_hours: number;
}

export function addPartnerCommands(program: Command): void {
  const add = adder(
    program.command('partner').description('manage partners: keys, webhook secrets, settings'),
  );

  add('create', 'create a partner; its key and webhook secret are shown only once')
    .requiredOption('--name <name>', 'display name')
    .option('--webhook-url <url>', 'where its events are delivered')
    .option('--rate-limit-per-sec <n>', 'requests per second', wholeNumber)
    .option('--max-wabas <n>', 'business accounts that its plan allows', wholeNumber)
    .action(change(create, { made: 'partner_id' }));

  add('update <partner_id>', 'change a partner’s settings; what you leave out stays as it is')
    .option('--name <name>', 'display name')
    .option('--webhook-url <url>', 'where its events are delivered; empty to deliver none')
    .option('--rate-limit-per-sec <n>', 'requests per second', wholeNumber)
    .option('--max-wabas <n>', 'business accounts that its plan allows', wholeNumber)
    .option('--logo-url <url>', 'a picture for its sign-up page; empty to show none')
    .addOption(new Option('--status <status>', 'may it use the API').choices(PARTNER_STATUSES))
    .action(change(update, { before_of: 'partner' }));

  add('list', 'list all partners').action(action(list));

  add('show <partner_id>', 'show one partner').action(action(show));

  add(
    'contact <partner_id>',
    'show or change the e-mail addresses of its contacts; the gateway sends no mail',
  )
    .option('--technical <address>', 'e-mail address of those who run its servers; empty for none')
    .option('--billing <address>', 'e-mail address of those who pay; empty for none')
    .action(change(contact, { is_change: (options) => Object.keys(options).length > 0 }));

  add(
    'notify <partner_id>',
    'send a notice: an event partner.notice, kept for 30 days in the console',
  )
    .requiredOption('--subject <text>', 'one line, at most 120 characters')
    .requiredOption('--text <text>', 'at most 2,000 characters')
    .addOption(
      new Option('--severity <severity>', 'must the partner act')
        .choices(PARTNER_SEVERITIES)
        .default('info'),
    )
    .action(change(notify, { made: 'notice_id' }));

  add('rotate-key <partner_id>', 'issue a new partner key; the old key stops working at once')
    .option('--overlap-hours <n>', 'how long the old key works as well', wholeNumber, 0)
    .option('--yes', 'confirm; needed unless --json is given')
    .action(change(rotateKey));

  add('rotate-webhook-secret <partner_id>', 'issue a new webhook secret')
    .option(
      '--overlap-hours <n>',
      'how long deliveries carry the signatures of both secrets',
      wholeNumber,
      24,
    )
    .action(change(rotateWebhookSecret));

  add(
    'card <partner_id>',
    'print a link where the partner adds a payment card for its billing slots',
  ).action(change(card));
}

const operator = (session: Session) => session.client(OperatorDefinition);

async function create(session: Session, options: CreatePartnerRequest): Promise<Answer> {
  const created = await operator(session).createPartner(options).catch(rejected);
  const { partner_id, partner_key, webhook_secret } = created;
  return { json: { partner_id, partner_key, webhook_secret }, text: describeNew(created) };
}

export const describeNew = (created: CreatePartnerResponse): string =>
  [
    `partner         ${created.partner_id}`,
    `partner key     ${created.partner_key}`,
    `webhook secret  ${created.webhook_secret}`,
    'Store the key and the secret now: they are not shown again. For your shell:',
    `export KEY=${created.partner_key} WEBHOOK_SECRET=${created.webhook_secret}`,
  ].join('\n');

async function update(session: Session, partner_id: string, options: object): Promise<Answer> {
  if (Object.keys(options).length === 0) {
    throw new UsageError('name at least one setting to change: see bmg partner update --help');
  }
  return answerOf(await updatePartner(session, { partner_id, ...options }));
}

/** Shows the contacts; changes those that are given first. */
async function contact(
  session: Session,
  partner_id: string,
  contacts: PartnerContacts,
): Promise<Answer> {
  const partner =
    Object.keys(contacts).length === 0
      ? await operator(session).getPartner({ partner_id })
      : await updatePartner(session, { partner_id, contacts });
  const of = contactsOf(partner.contacts);
  return { json: { partner_id, contacts: of }, text: describeContacts(of).join('\n') };
}

async function notify(
  session: Session,
  partner_id: string,
  notice: { subject: string; text: string; severity: string },
): Promise<Answer> {
  const { notice_id, contacts } = await operator(session)
    .notifyPartner({ partner_id, ...notice })
    .catch(rejected);
  const of = contactsOf(contacts);
  return {
    json: { notice_id, contacts: of },
    text: [
      `notice       ${notice_id}`,
      ...describeContacts(of),
      'The gateway sends no mail: write to the contacts yourself if it is urgent.',
    ].join('\n'),
  };
}

const updatePartner = (session: Session, changes: object): Promise<Partner> =>
  operator(session)
    .updatePartner(changes as UpdatePartnerRequest)
    .catch(rejected);

async function list(session: Session): Promise<Answer> {
  const { partners } = await operator(session).listPartners({ limit: 500, after: undefined });
  const lines = partners.map(
    ({ partner_id, status, name }) => `${partner_id}  ${status.padEnd(10)}  ${name}`,
  );
  return {
    json: { partners: partners.map((one) => answerOf(one).json) },
    text: lines.join('\n') || 'No partners yet. Create one: bmg partner create --name NAME',
  };
}

async function show(session: Session, partner_id: string): Promise<Answer> {
  const found = await operator(session).getPartner({ partner_id });
  return answerOf(found);
}

async function rotateKey(
  session: Session,
  partner_id: string,
  { overlap_hours, yes }: Overlap & { yes?: boolean },
  command: Command,
): Promise<Answer> {
  // Only a program requests JSON: it is not warned.
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  const { name } = await operator(session).getPartner({ partner_id });
  const fate =
    overlap_hours === 0
      ? 'stops working at once'
      : `works for another ${count(overlap_hours, 'hour')}`;
  if (!yes && !json) {
    throw new Error(
      `the present key of ${name} (${partner_id}) ${fate}, and its unfinished connect sessions are ` +
        'deleted. Nothing was changed: add --yes to do it, --overlap-hours to keep the old key for a while',
    );
  }
  const { partner_key, sessions_deleted } = await operator(session).rotateKey({
    partner_id,
    overlap_hours,
  });
  return {
    json: { partner_key, sessions_deleted },
    text: [
      `partner key  ${partner_key}`,
      `The old key ${fate}. Connected accounts are not affected.`,
      `Unfinished connect sessions deleted: ${sessions_deleted}`,
    ].join('\n'),
  };
}

async function rotateWebhookSecret(
  session: Session,
  partner_id: string,
  { overlap_hours }: Overlap,
): Promise<Answer> {
  const { webhook_secret } = await operator(session).rotateWebhookSecret({
    partner_id,
    overlap_hours,
  });
  return {
    json: { webhook_secret },
    text: [
      `webhook secret  ${webhook_secret}`,
      `For ${overlap_hours} h, webhook-signature carries the signatures of both secrets.`,
    ].join('\n'),
  };
}

async function card(session: Session, partner_id: string): Promise<Answer> {
  const { url } = await session
    .client(PaymentsDefinition)
    .createCardSession({ partner_id, return_url: undefined });
  return { json: { url }, text: url };
}

type Contacts = Record<'technical' | 'billing', string | null>;

/** Absent addresses are null, also from an onboarding of the previous release. */
const contactsOf = ({ technical, billing }: PartnerContacts = {}): Contacts => ({
  technical: technical ?? null,
  billing: billing ?? null,
});

const describeContacts = ({ technical, billing }: Contacts): string[] => [
  `technical    ${technical ?? 'none'}`,
  `billing      ${billing ?? 'none'}`,
];

const answerOf = (one: Partner): Answer => ({
  json: { ...record(one), contacts: contactsOf(one.contacts) },
  text: describe(one),
});

const describe = (one: Partner): string =>
  [
    `partner      ${one.partner_id}`,
    `name         ${one.name}`,
    `status       ${one.status}`,
    `key          ${one.key_hint}`,
    `webhook URL  ${one.webhook_url ?? 'none: events are not delivered'}`,
    `logo         ${one.logo_url ?? 'none'}`,
    ...describeContacts(contactsOf(one.contacts)),
    `rate limit   ${count(one.rate_limit_per_sec, 'request')} per second`,
    `accounts     ${one.active_wabas} active${one.max_wabas === undefined ? '' : ` of ${one.max_wabas}`}`,
  ].join('\n');
