// The commands that concern the whole platform: `bmg rotate-keyring` and `bmg doctor`.
import type { Command } from 'commander';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { action, count, type Answer, EXIT_FAILURE } from '../action';
import { doctor, type Check, type Status } from '../doctor';
import { change } from '../recorded';
import type { Session } from '../session';

export function addPlatformCommands(program: Command): void {
  program
    .command('rotate-keyring')
    .description('re-wrap every sealed record with the newest key of ENCRYPTION_KEYRING')
    .addHelpText(
      'after',
      '\nThe services keep running meanwhile. Remove an old key only after this has reported no' +
        '\nunreadable records.',
    )
    .action(change(program, rotateKeyring));

  program
    .command('doctor')
    .description('check settings, engines, topics, indexes and the upstream, and print what to fix')
    .action(action(program, diagnose));
}

async function rotateKeyring(session: Session): Promise<Answer> {
  const operator = session.client(OperatorDefinition);
  let [rewrapped, unreadable] = [0, 0];
  let after: string | undefined;
  do {
    const page = await operator.rotateKeyring({ after, limit: 0 }, session.call());
    rewrapped += page.rewrapped;
    unreadable += page.unreadable;
    after = page.next;
  } while (after !== undefined);
  const advice =
    unreadable === 0
      ? 'You can now remove the older keys from ENCRYPTION_KEYRING.'
      : `Not changed: ${count(unreadable, 'record')} that no key in ENCRYPTION_KEYRING opens.`;
  return {
    json: { rewrapped, unreadable },
    text: `${count(rewrapped, 'record')} re-wrapped with the newest key.\n${advice}`,
  };
}

async function diagnose(session: Session): Promise<Answer> {
  const { checks, ok } = await doctor(session);
  if (!ok) process.exitCode = EXIT_FAILURE;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  return { json: { ok, warnings, checks }, text: checks.map(describe).join('\n') };
}

const VERDICTS: Record<Status, string> = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' };

function describe({ status, name, detail, advice }: Check): string {
  return `${VERDICTS[status]}  ${name}: ${detail}${advice && `\n      → ${advice}`}`;
}
