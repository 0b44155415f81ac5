// Runs one command: opens a session, prints the answer in the requested form, closes it.
import { InvalidArgumentError, type Command } from 'commander';
import { openSession, type Session } from './session';

export const EXIT_FAILURE = 1;

/** A command's result: the same facts for programs (one JSON object) and for people. */
export interface Answer {
  json: unknown;
  text: string;
}

/** The option of a command that concerns one partner. */
export interface Of {
  partner: string;
}

/** Options by the names of the API: `webhook_url` for commander's `webhookUrl`. */
export const byApiName = (options: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  );

/** A command's function; `given` are its arguments, its options and the command. */
export function action(work: (session: Session, ...given: any[]) => Promise<Answer>) {
  return async (...given: any[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const { json: wantsJson } = command.optsWithGlobals<{ json?: boolean }>();
    const session = openSession();
    try {
      const options = byApiName(command.opts());
      const { json, text } = await work(session, ...given.slice(0, -2), options, command);
      const output = wantsJson ? JSON.stringify(json) : text;
      process.stdout.write(`${output}\n`);
    } finally {
      await session.close();
    }
  };
}

/** Returns what adds commands to a group; with `whose`, each of them needs a partner. */
export const adder =
  (group: Command, whose?: string) =>
  (usage: string, description: string): Command => {
    const added = group.command(usage).description(description);
    return whose === undefined ? added : added.requiredOption('--partner <partner_id>', whose);
  };

/** A gRPC message for `--json`: absent fields are null. */
export const record = (message: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(message).map(([key, value]) => [key, (value as unknown) ?? null]),
  );

/** A number with its noun: "1 slot", "2 slots". */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Reads an option that is a date-time with a time zone. */
export function dateTime(text: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()) || !/(Z|[+-]\d{2}:\d{2})$/i.test(text)) {
    throw new InvalidArgumentError('It must be a date-time with a time zone.');
  }
  return at;
}

/** Reads an option that is a whole number. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return Number(text);
}
