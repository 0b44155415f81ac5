// `history`: upstream replays it once after onboarding, in phases and chunks. A media message
// arrives twice: first a placeholder in its thread, later the message itself outside any thread.
import { isSameNumber } from '@bmg/common/ids';
import {
  conversationOf,
  identityOf,
  listOf,
  objectOf,
  partyOf,
  setIfGiven,
  toContact,
  toDigits,
  toNumber,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import {
  changeState,
  eachItem,
  emit,
  ignore,
  keyOfContent,
  keyOfItem,
  lists,
  timeOf,
  type Context,
  type FieldRows,
} from './context';
import { textOf, typeOf } from './messages';

/** The position of a message in the replay. */
interface Position {
  /** A placeholder and its media share a message id, and both are delivered. */
  readonly space: 'history' | 'history_media';
  readonly phase: number | null;
  readonly progress: number | null;
  readonly thread: Thread;
  /** Known to have been sent by the business. */
  readonly outbound: boolean;
}

/** The other side of the thread, which its messages often leave out. */
interface Thread {
  readonly id: string | null;
  readonly phone: string | null;
  readonly bsuid: string | null;
}

const FOLLOW_UP: Position = {
  space: 'history_media',
  phase: null,
  progress: null,
  thread: { id: null, phone: null, bsuid: null },
  outbound: false,
};

export const historyFields: FieldRows = {
  history: lists({
    history: readChunk,
    messages: (item, context) => readMessage(item, context, FOLLOW_UP),
    message_echoes: (item, context) => readMessage(item, context, { ...FOLLOW_UP, outbound: true }),
  }),
};

function readChunk(chunk: JsonObject, context: Context): void {
  const metadata = objectOf(chunk.metadata);
  const phase = toNumber(metadata?.phase);
  const progress = toNumber(metadata?.progress);
  const declined = listOf(chunk.errors).length > 0;
  let found = declined;
  if (declined) readRefusal(chunk, context, { phase, progress });
  reportProgress(chunk, context, { phase, progress });
  eachItem(chunk.threads, context, (thread) => {
    const position: Position = {
      space: 'history',
      phase,
      progress,
      thread: threadOf(thread),
      outbound: false,
    };
    if (listOf(thread.messages).length > 0) found = true;
    eachItem(thread.messages, context, (item) => readMessage(item, context, position));
  });
  if (!found) ignore(context, 'empty');
}

type Progress = Pick<Position, 'phase' | 'progress'>;

/** One small record for a chunk, however many messages it has. */
function reportProgress(
  { metadata, errors }: JsonObject,
  context: Context,
  { phase, progress }: Progress,
): void {
  const refusal = objectOf(listOf(errors)[0]);
  if (phase === null && progress === null && refusal === null) return;
  changeState(context, {
    kind: 'history_sync',
    occurrence: keyOfContent('history_sync', { metadata, errors }, context),
    data: {
      phase,
      progress,
      error_code: toNumber(refusal?.code),
      error_message: toText(refusal?.message) ?? toText(refusal?.title),
    },
  });
}

/** The client declined to share its history: one event without a message. */
function readRefusal(chunk: JsonObject, context: Context, { phase, progress }: Progress): void {
  const timestamp = timeOf(objectOf(chunk.metadata)?.timestamp, context);
  emit(context, {
    event: 'message.history',
    occurrence: keyOfContent('history_errors', chunk, context),
    timestamp,
    data: { history: true, phase, progress, timestamp, errors: listOf(chunk.errors) },
  });
}

function threadOf(thread: JsonObject): Thread {
  const shown = objectOf(thread.context);
  const id = toText(thread.id);
  // A thread's id is the phone, unless the phone is hidden or the thread belongs to a group.
  const phone = toText(shown?.wa_id) ?? (toDigits(id) === null ? null : id);
  return { id, phone, bsuid: toText(shown?.user_id) };
}

function readMessage(item: JsonObject, context: Context, position: Position): void {
  const { thread } = position;
  const outbound = position.outbound || isOutbound(item, context, thread);
  const party = partyOf(
    context,
    toText(outbound ? item.to : item.from) ?? thread.phone,
    toText(outbound ? item.to_user_id : item.from_user_id) ?? thread.bsuid,
  );
  const timestamp = timeOf(item.timestamp, context);
  const data: Record<string, unknown> = {
    history: true,
    phase: position.phase,
    progress: position.progress,
    timestamp,
    // When the other side's phone is hidden, neither `from` nor `to` shows the direction.
    direction: outbound ? 'outbound' : 'inbound',
    message_id: toText(item.id),
  };
  setIfGiven(data, outbound ? 'to' : 'from', party.phone);
  data.bsuid = party.bsuid;
  data.type = typeOf(item);
  data.text = textOf(item);
  data.status = toText(objectOf(item.history_context)?.status);
  data.raw = { message: item };
  emit(context, {
    event: 'message.history',
    occurrence: keyOfItem(position.space, item, context),
    contact: conversationOf(item, party) ?? thread.id,
    timestamp,
    data,
  });
}

/** In a one-to-one thread, everything that is not from its person is from the business. */
function isOutbound(item: JsonObject, { place }: Context, thread: Thread): boolean {
  const from = toContact(toText(item.from));
  const isNumber = (other: string): boolean =>
    place.digits !== null && isSameNumber(other, place.digits);
  if (from !== null && isNumber(from)) return true;
  const isPerson = toText(item.group_id) === null ? isFromPerson(item, thread) : undefined;
  if (isPerson !== undefined) return !isPerson;
  if (toText(item.to_user_id) !== null) return true;
  const to = toContact(toText(item.to));
  return to !== null && !isNumber(to);
}

/** Undefined if the message and the thread have no id of the same kind. */
function isFromPerson(item: JsonObject, { phone, bsuid }: Thread): boolean | undefined {
  const sender = identityOf(toText(item.from), toText(item.from_user_id));
  const person = toContact(phone);
  const known: boolean[] = [];
  if (sender.phone !== null && person !== null) {
    known.push(isSameNumber(toContact(sender.phone) ?? '', person));
  }
  if (sender.bsuid !== null && bsuid !== null) known.push(sender.bsuid === bsuid);
  return known.length === 0 ? undefined : known.includes(true);
}
