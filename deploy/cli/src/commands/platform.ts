// The commands that concern the whole platform: `bmg rotate-keyring` and `bmg doctor`.
import type { Command } from 'commander';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { action, type Answer } from '../action';
import { doctor, type Check } from '../doctor';
import type { Session } from '../session';

const EXIT_FAILURE = 1;

export function addPlatformCommands(program: Command): void {
  program
    .command('rotate-keyring')
    .description('re-wrap every sealed record with the newest key of ENCRYPTION_KEYRING')
    .addHelpText(
      'after',
      '\nThe services keep running meanwhile. Remove an old key only after this has reported no' +
        '\nunreadable records.',
    )
    .action(action(program, rotateKeyring));

  program
    .command('doctor')
    .description('check settings, engines, topics, indexes and the upstream, and say what to fix')
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
      : `${unreadable} record(s) were left as they are: no key in ENCRYPTION_KEYRING opens them.`;
  return {
    json: { rewrapped, unreadable },
    text: `${rewrapped} record(s) re-wrapped with the newest key.\n${advice}`,
  };
}

async function diagnose(session: Session): Promise<Answer> {
  const { checks, ok } = await doctor(session);
  if (!ok) process.exitCode = EXIT_FAILURE;
  return { json: { ok, checks }, text: checks.map(describe).join('\n') };
}

function describe({ ok, name, detail, advice }: Check): string {
  const verdict = ok ? (advice ? 'warn' : 'ok  ') : 'FAIL';
  return `${verdict}  ${name}: ${detail}${advice && `\n      → ${advice}`}`;
}
