import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { OperatorDefinition, type Client, type Partner } from '@bmg/proto/onboarding';
import { doctor } from './doctor';
import { describePurge, purgeClient } from './purge';
import { explain, openSession, type Session } from './session';

/** What a command says: the same facts for programs and for people. */
interface Answer {
  json: unknown;
  text: string;
}

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

function whole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('give a whole number, 0 or more');
  return value;
}

const program = new Command('bmg')
  .description('The operator’s command line of the Business Messaging Gateway.')
  .option('--json', 'print one JSON object and nothing else')
  .showHelpAfterError('(--help shows what there is)')
  .exitOverride();

/** Runs a command against the mesh and prints its answer. */
function action(work: (session: Session, ...given: any[]) => Promise<Answer>) {
  return async (...given: any[]): Promise<void> => {
    const session = openSession();
    try {
      const { json, text } = await work(session, ...given);
      const output = program.opts<{ json?: boolean }>().json ? JSON.stringify(json) : text;
      process.stdout.write(`${output}\n`);
    } finally {
      await session.close();
    }
  };
}

const operator = (session: Session) => session.client(OperatorDefinition);

const partner = program.command('partner').description('partners: keys, secrets, settings');

partner
  .command('create')
  .description('create a partner; its key and webhook secret are shown this once')
  .requiredOption('--name <name>', 'what people call it')
  .option('--webhook-url <url>', 'where its events go')
  .option('--rate-limit-per-sec <n>', 'requests a second', whole)
  .option('--max-wabas <n>', 'business accounts that its plan allows', whole)
  .action(
    action(async (session, options: CreateOptions) => {
      const created = await operator(session).createPartner(
        {
          name: options.name,
          webhook_url: options.webhookUrl,
          rate_limit_per_sec: options.rateLimitPerSec,
          max_wabas: options.maxWabas,
        },
        session.call(),
      );
      const { partner_id, partner_key, webhook_secret } = created;
      return {
        json: { partner_id, partner_key, webhook_secret },
        text: [
          `partner         ${partner_id}`,
          `partner key     ${partner_key}`,
          `webhook secret  ${webhook_secret}`,
          'Keep both now: they are not shown again.',
        ].join('\n'),
      };
    }),
  );

partner
  .command('update <partner_id>')
  .description('change a partner’s settings')
  .option('--name <name>')
  .option('--webhook-url <url>', 'where its events go; empty for nowhere')
  .option('--rate-limit-per-sec <n>', 'requests a second', whole)
  .option('--max-wabas <n>', 'business accounts that its plan allows', whole)
  .option('--status <status>', 'active or suspended')
  .action(
    action(async (session, partner_id: string, options: UpdateOptions) => {
      const updated = await operator(session).updatePartner(
        {
          partner_id,
          name: options.name,
          webhook_url: options.webhookUrl,
          rate_limit_per_sec: options.rateLimitPerSec,
          max_wabas: options.maxWabas,
          status: options.status,
        },
        session.call(),
      );
      return { json: record(updated), text: describePartner(updated) };
    }),
  );

partner
  .command('list')
  .description('all partners')
  .action(
    action(async (session) => {
      const { partners } = await operator(session).listPartners(
        { limit: 500, after: undefined },
        session.call(),
      );
      return {
        json: { partners: partners.map(record) },
        text:
          partners
            .map((one) => `${one.partner_id}  ${one.status.padEnd(10)}  ${one.name}`)
            .join('\n') || 'There are no partners yet: bmg partner create --name NAME',
      };
    }),
  );

partner
  .command('show <partner_id>')
  .description('one partner')
  .action(
    action(async (session, partner_id: string) => {
      const found = await operator(session).getPartner({ partner_id }, session.call());
      return { json: record(found), text: describePartner(found) };
    }),
  );

partner
  .command('rotate-key <partner_id>')
  .description('a new partner key; the old one stops working at once')
  .action(
    action(async (session, partner_id: string) => {
      const { partner_key, sessions_deleted } = await operator(session).rotateKey(
        { partner_id },
        session.call(),
      );
      return {
        json: { partner_key, sessions_deleted },
        text: `partner key  ${partner_key}\n${sessions_deleted} unfinished connect session(s) deleted. Connected accounts go on working.`,
      };
    }),
  );

partner
  .command('rotate-webhook-secret <partner_id>')
  .description('a new webhook secret')
  .option('--overlap-hours <n>', 'how long deliveries carry both signatures', whole, 24)
  .action(
    action(async (session, partner_id: string, options: { overlapHours: number }) => {
      const { webhook_secret } = await operator(session).rotateWebhookSecret(
        { partner_id, overlap_hours: options.overlapHours },
        session.call(),
      );
      return {
        json: { webhook_secret },
        text: `webhook secret  ${webhook_secret}\nFor ${options.overlapHours} h deliveries carry both signatures in webhook-signature.`,
      };
    }),
  );

partner
  .command('card <partner_id>')
  .description('a link under which a person puts a card on file for the partner’s slots')
  .action(
    action(async (session, partner_id: string) => {
      const { url } = await session
        .client(PaymentsDefinition)
        .createCardSession({ partner_id, return_url: undefined }, session.call());
      return { json: { url }, text: url };
    }),
  );

const client = program.command('client').description('clients: support’s view');

client
  .command('list')
  .description('registered numbers, deleted ones too')
  .option('--partner <partner_id>')
  .action(
    action(async (session, options: { partner?: string }) => {
      const { clients, total } = await operator(session).listAllClients(
        { partner_id: options.partner, limit: 500, offset: 0 },
        session.call(),
      );
      return {
        json: { clients: clients.map(record), total },
        text: clients.map(describeClient).join('\n') || 'There are no clients.',
      };
    }),
  );

client
  .command('restore <waba_id>')
  .description('make a deleted account active again: all its numbers, and its events')
  .requiredOption('--partner <partner_id>')
  .action(
    action(async (session, waba_id: string, options: { partner: string }) => {
      const restored = await operator(session).restoreClient(
        { partner_id: options.partner, waba_id },
        session.call(),
      );
      const numbers = await activeNumbers(session, options.partner, waba_id);
      return {
        json: { ...record(restored), clients: numbers.map(record) },
        text: numbers.map(describeClient).join('\n'),
      };
    }),
  );

client
  .command('purge <waba_id>')
  .description(
    'delete what is stored of a deleted client, in every service; without --yes only count',
  )
  .requiredOption('--partner <partner_id>')
  .option('--yes', 'do it: it cannot be undone')
  .action(
    action(async (session, waba_id: string, options: { partner: string; yes?: boolean }) => {
      const scope = { partner_id: options.partner, waba_id };
      const report = await purgeClient(session, scope, options.yes === true);
      return { json: report, text: describePurge(report) };
    }),
  );

program
  .command('rotate-keyring')
  .description(
    'wrap every sealed record with the newest key of the keyring; services go on meanwhile',
  )
  .action(
    action(async (session) => {
      let [rewrapped, unreadable] = [0, 0];
      let after: string | undefined;
      do {
        const page = await operator(session).rotateKeyring({ after, limit: 0 }, session.call());
        rewrapped += page.rewrapped;
        unreadable += page.unreadable;
        after = page.next;
      } while (after !== undefined);
      return {
        json: { rewrapped, unreadable },
        text:
          unreadable === 0
            ? `${rewrapped} record(s) wrapped with the newest key. Older keys can leave the keyring now.`
            : `${rewrapped} record(s) wrapped with the newest key; ${unreadable} that no key of the ring opens were left as they are.`,
      };
    }),
  );

program
  .command('doctor')
  .description('check settings, engines, topics, indexes and the upstream, and say what to do')
  .action(
    action(async (session) => {
      const { checks, ok } = await doctor(session);
      if (!ok) process.exitCode = EXIT_FAILURE;
      return {
        json: { ok, checks },
        text: checks
          .map(
            (check) =>
              `${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.detail}${check.ok || !check.advice ? '' : `\n      → ${check.advice}`}`,
          )
          .join('\n'),
      };
    }),
  );

interface CreateOptions {
  name: string;
  webhookUrl?: string;
  rateLimitPerSec?: number;
  maxWabas?: number;
}
type UpdateOptions = Partial<CreateOptions> & { status?: string };

/** Absent fields are null for programs, times ISO 8601. */
const PAGE = 500;

async function activeNumbers(
  session: Session,
  partner_id: string,
  waba_id: string,
): Promise<Client[]> {
  const found: Client[] = [];
  let [offset, total] = [0, 1];
  for (; offset < total; offset += PAGE) {
    const page = await operator(session).listAllClients(
      { partner_id, limit: PAGE, offset },
      session.call(),
    );
    total = page.total;
    found.push(...page.clients);
  }
  return found.filter((one) => one.waba_id === waba_id && one.status === 'active');
}

const record = (message: Partner | Client): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(message).map(([key, value]) => [key, (value as unknown) ?? null]),
  );

const describePartner = (one: Partner): string =>
  [
    `partner      ${one.partner_id}`,
    `name         ${one.name}`,
    `status       ${one.status}`,
    `key          ${one.key_hint}`,
    `webhook URL  ${one.webhook_url ?? 'none: events are not delivered'}`,
    `rate limit   ${one.rate_limit_per_sec} requests a second`,
    `accounts     ${one.active_wabas} active${one.max_wabas === undefined ? '' : ` of ${one.max_wabas}`}`,
  ].join('\n');

const describeClient = (one: Client): string =>
  `${one.waba_id}  ${one.phone_number_id}  ${one.status.padEnd(8)}  ${one.health.padEnd(9)}  ${one.phone_number}  ${one.display_name}${one.partner_id ? `  (${one.partner_id})` : ''}`;

program.parseAsync(process.argv).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
    return;
  }
  process.stderr.write(`bmg: ${explain(error)}\n`);
  process.exitCode = EXIT_FAILURE;
});
