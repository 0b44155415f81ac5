// `bmg upstream …`: our app at the upstream.
import type { Command } from 'commander';
import { OperatorDefinition, type SubscribeAppResponse } from '@bmg/proto/onboarding';
import { count, record, type Answer, EXIT_FAILURE } from '../action';
import { change } from '../recorded';
import { settingOf, UsageError, type Session } from '../session';

interface Options {
  check?: boolean;
  callback?: string;
}

const NOTES = `
The upstream sends only the webhook fields to which the app is subscribed. No field is ever dropped,
and the address of the webhooks changes only with --callback. The upstream verifies it with
UPSTREAM_VERIFY_TOKEN, which comes from the environment, else from .run/env in this folder.`;

export function addUpstreamCommands(program: Command): void {
  program
    .command('upstream')
    .description('our app at the upstream')
    .command('subscribe')
    .description('subscribe the app to all webhook fields that the gateway handles')
    .addHelpText('after', NOTES)
    .option('--check', 'only show what is missing; exit code 1 if anything is')
    .option('--callback <url>', 'the address of the webhooks from now on')
    .action(change(program, subscribe, { is_change: ({ check }) => check !== true }));
}

async function subscribe(session: Session, { check, callback }: Options): Promise<Answer> {
  const verify_token = settingOf('UPSTREAM_VERIFY_TOKEN', '');
  if (!check && verify_token === '') throw new UsageError('set UPSTREAM_VERIFY_TOKEN');
  const request = { check_only: check === true, callback_url: callback, verify_token };
  const found = await session.client(OperatorDefinition).subscribeApp(request, session.call());
  const is_missing = found.missing.length > 0 || found.callback_url === undefined;
  if (check && is_missing) process.exitCode = EXIT_FAILURE;
  return { json: record(found), text: describe(found) };
}

function describe({ callback_url, missing, others, changed }: SubscribeAppResponse): string {
  const at = callback_url === undefined ? 'no address' : callback_url;
  const fields = missing.join(', ');
  const what = changed
    ? `Subscribed to ${missing.length === 0 ? 'all fields' : fields}, at ${at}.`
    : missing.length === 0
      ? `Nothing is missing: all fields go to ${at}.`
      : `Missing ${count(missing.length, 'field')} of ${at}: ${fields}`;
  return others.length === 0 ? what : `${what}\nKept: ${others.join(', ')}`;
}
