// `bmg indexes …`: the indexes of every service's database, compared with their declaration.
import type { Command } from 'commander';
import type { ApplyIndexesResponse, IndexChange } from '@bmg/proto/data';
import { action, record, type Answer, EXIT_FAILURE } from '../action';
import { describeDifference, eachDatabase, type Reply } from '../databases';
import { change } from '../recorded';
import type { Session } from '../session';

/** A build that takes longer continues in the service. */
const APPLY_LIMIT_MS = 120_000;

const APPLYING = `
New indexes are built before the old ones are dropped. A build that takes more than two minutes
continues in the service: run "bmg indexes show" until it is done. The exit code is 1 while a
difference remains.
Earlier releases may use an obsolete index: drop it once all processes are replaced.`;

export function addIndexCommands(program: Command): void {
  const indexes = program
    .command('indexes')
    .description('the indexes of the services’ databases: missing, different and obsolete ones');

  indexes
    .command('show')
    .description('list the differences between the stored indexes and the declared ones')
    .action(action(program, show));

  indexes
    .command('apply')
    .description('create missing indexes and replace those that differ')
    .option('--rebuild', 'drop and build those that cannot stand beside their replacement')
    .option('--drop-obsolete', 'drop indexes that are not declared')
    .addHelpText('after', APPLYING)
    .action(change(program, apply));
}

async function show(session: Session): Promise<Answer> {
  const replies = await eachDatabase(session, (indexes) =>
    indexes.compareIndexes({}, session.call()),
  );
  return answerOf(replies, () => []);
}

async function apply(
  session: Session,
  { rebuild = false, dropObsolete = false }: { rebuild?: boolean; dropObsolete?: boolean },
): Promise<Answer> {
  const replies = await eachDatabase(session, (indexes) =>
    indexes.applyIndexes({ rebuild, drop_obsolete: dropObsolete }, session.call(APPLY_LIMIT_MS)),
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
