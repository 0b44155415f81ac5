// `bmg indexes …`: the indexes of every service's database, compared with their declaration.
import type { Command } from 'commander';
import { isUnimplemented, notAllowedReason } from '@bmg/common/errors';
import {
  IndexesDefinition,
  type ApplyIndexesResponse,
  type IndexChange,
  type IndexDifference,
} from '@bmg/proto/data';
import { action, adder, record, type Answer, EXIT_FAILURE } from '../action';
import { change } from '../recorded';
import {
  doesNotAnswer,
  findService,
  isUnavailable,
  SERVICES,
  type Address,
  type Calls,
  type Session,
} from '../session';

/** A build that takes longer continues in the service. */
const APPLY_LIMIT_MS = 120_000;

const APPLYING = `
New indexes are built before the old ones are dropped. A build that takes more than two minutes
continues in the service: run "bmg indexes show" until it is done. The exit code is 1 while a
difference remains.
Earlier releases may use an obsolete index: drop it once all processes are replaced.`;

export function addIndexCommands(program: Command): void {
  const add = adder(
    program
      .command('indexes')
      .description('the indexes of the services’ databases: missing, different and obsolete ones'),
  );

  add('show', 'list the differences between the stored indexes and the declared ones').action(
    action(show),
  );

  add('apply', 'create missing indexes and replace those that differ')
    .option('--rebuild', 'drop and build those that cannot stand beside their replacement')
    .option('--drop-obsolete', 'drop indexes that are not declared')
    .addHelpText('after', APPLYING)
    .action(change(apply));
}

async function show(session: Session): Promise<Answer> {
  const replies = await eachDatabase(session, (indexes) => indexes.compareIndexes({}));
  return answerOf(replies, () => []);
}

async function apply(
  session: Session,
  { rebuild = false, drop_obsolete = false }: { rebuild?: boolean; drop_obsolete?: boolean },
): Promise<Answer> {
  const replies = await eachDatabase(session, (indexes) =>
    indexes.applyIndexes({ rebuild, drop_obsolete }, session.call(APPLY_LIMIT_MS)),
  );
  const remains = replies.some(
    (one) => !('answer' in one) || one.answer.building || one.answer.differences.length > 0,
  );
  if (remains) process.exitCode = EXIT_FAILURE;
  return answerOf(replies, ({ changes }) => changes);
}

function answerOf<T extends Omit<ApplyIndexesResponse, 'changes'>>(
  replies: Array<Reply<T>>,
  changesOf: (answer: T) => IndexChange[],
): Answer {
  if (replies.some((one) => !('answer' in one))) process.exitCode = EXIT_FAILURE;
  const lines = replies.flatMap((one) => {
    if (!('answer' in one)) return [`${one.service}  ${one.problem}: ${one.advice}`];
    const { building, differences } = one.answer;
    return [
      ...(building ? [`${one.service}  is still building indexes`] : []),
      ...changesOf(one.answer).map((found) => `${one.service}.${describeChange(found)}`),
      ...differences.map((found) => `${one.service}.${describeDifference(found)}`),
    ];
  });
  return {
    json: {
      services: Object.fromEntries(
        replies.map((one) => [
          one.service,
          'answer' in one ? record(one.answer) : { problem: one.problem },
        ]),
      ),
    },
    text: lines.join('\n') || 'All indexes are as declared.',
  };
}

const REFUSALS: Record<string, string> = {
  needs_rebuild: 'cannot stand beside its replacement: add --rebuild, and queries go without it',
  failed: 'failed',
};

const describeChange = ({ collection, key, outcome, reason }: IndexChange): string =>
  `${collection}  { ${key} }  ${REFUSALS[outcome] ?? outcome.replace('_', ' ')}${reason && `: ${reason}`}`;

type Reply<T> = { service: string } & ({ answer: T } | { problem: string; advice: string });

/** Calls all of them at once; one that fails has a problem instead of an answer. */
export const eachDatabase = <T>(
  session: Session,
  call: (indexes: Calls<IndexesDefinition>) => Promise<T>,
): Promise<Array<Reply<T>>> =>
  Promise.all(
    Object.entries(SERVICES).map(async ([service, address]): Promise<Reply<T>> => {
      try {
        return { service, answer: await call(session.client(IndexesDefinition, address)) };
      } catch (error) {
        return { service, ...problemOf(error, address) };
      }
    }),
  );

function problemOf(error: unknown, address: Address) {
  if (isUnimplemented(error)) {
    return { problem: 'runs an earlier release', advice: 'upgrade it, then run this again' };
  }
  if (isUnavailable(error)) {
    return { problem: doesNotAnswer(address), advice: findService(address[0]) };
  }
  const problem = notAllowedReason(error) ?? (error as Error).message;
  return { problem, advice: 'read its log' };
}

export function describeDifference(one: IndexDifference): string {
  const name = one.name === '' ? '' : ` (${one.name})`;
  const options = one.options.map(
    ({ name: option, declared, stored }) =>
      `; ${option} is ${stored || 'absent'}, declared ${declared || 'absent'}`,
  );
  return `${one.collection}  { ${one.key} }  ${one.state}${name}${options.join('')}`;
}
