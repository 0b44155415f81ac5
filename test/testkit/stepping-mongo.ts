// Stands between services and a MongoDB server and acts as the primary of a replica set, which can
// step down, lose answers and fail to replicate a write. It keeps the promise of retryable writes:
// a write that arrives again is not applied again.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON } from 'mongodb';

type Document = BSON.Document;

const HOST = '127.0.0.1';
const SET = 'rs0';
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);
const OF_THE_CONNECTION = new Set(['hello', 'isMaster', 'ismaster', 'ping', 'endSessions']);
const SESSION = 'lsid';
/** The fields of a command that a server outside of a replica set refuses. */
const OF_A_SET = new Set([SESSION, 'txnNumber', '$clusterTime']);
/** Numbers keep their types through a change of another field. */
const AS_IS: BSON.DeserializeOptions = { promoteValues: false };

export interface SteppingMongo {
  /** Its URL; the database names of a service are free. */
  url: string;
  /** There is no primary for this long; `cuts` closes all connections at the beginning. */
  stepDown(duration_ms: number, options?: { cuts?: boolean }): Promise<void>;
  /** The next writes are applied, and their connections closed before the answer. */
  loseAnswers(count: number): void;
  /** The next writes are applied by the primary and do not reach the majority. */
  failToReplicate(count: number): void;
  /** Ends what `failToReplicate` began. */
  replicateAgain(): void;
  /** How many writes arrived again, and were not applied again. */
  repeated(): number;
  close(): Promise<void>;
}

/** `target` is a `mongodb://` URL of one server without users. */
export async function startSteppingMongo(target: string): Promise<SteppingMongo> {
  const primary = new Primary();
  const { hostname, port } = new URL(target);
  const server = createServer((near) => serve(primary, near, connect(Number(port), hostname)));
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  primary.address = `${HOST}:${(server.address() as AddressInfo).port}`;
  return {
    url: `mongodb://${primary.address}/?replicaSet=${SET}`,
    async stepDown(duration_ms, { cuts = false } = {}) {
      primary.isDown = true;
      if (cuts) primary.cut();
      await sleep(duration_ms);
      primary.elections += 1;
      primary.isDown = false;
    },
    loseAnswers(count) {
      primary.lost += count;
    },
    failToReplicate(count) {
      primary.not_replicated += count;
    },
    replicateAgain() {
      primary.not_replicated = 0;
    },
    repeated: () => primary.repeated,
    close: () => closeServer(server, () => primary.cut()),
  };
}

type Change = (answer: Document) => Document | 'lost';

class Primary {
  address = '';
  isDown = false;
  lost = 0;
  not_replicated = 0;
  repeated = 0;
  elections = 1;
  readonly sockets = new Set<Socket>();
  /** The answers of writes that were applied. */
  readonly #applied = new Map<string, Document>();

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** What it answers itself; undefined for a command that the server has to perform. */
  refuse(command: Document, name: string): Document | undefined {
    if (OF_THE_CONNECTION.has(name)) return undefined;
    if (this.isDown) return notPrimary(name);
    const known = this.#applied.get(writeOf(command) ?? '');
    if (known) this.repeated += 1;
    return known;
  }

  /** How the server's answer changes on its way; undefined if it does not. */
  change(command: Document, name: string): Change | undefined {
    if (/^(hello|ismaster)$/i.test(name)) return (answer) => this.#hello(answer);
    const write = writeOf(command);
    if (write === undefined) return undefined;
    return (answer) => {
      if (Number(answer['ok']) !== 1) return answer;
      this.#applied.set(write, answer);
      if (this.lost > 0) {
        this.lost -= 1;
        return 'lost';
      }
      if (this.not_replicated === 0) return answer;
      this.not_replicated -= 1;
      return { ...answer, writeConcernError: NOT_REPLICATED };
    };
  }

  #hello(answer: Document): Document {
    const { isDown, address, elections } = this;
    return {
      ...answer,
      ...{ ismaster: !isDown, isWritablePrimary: !isDown, secondary: isDown },
      ...{ setName: SET, setVersion: 1, hosts: [address], me: address },
      ...(!isDown && { primary: address, electionId: electionId(elections) }),
      logicalSessionTimeoutMinutes: 30,
    };
  }
}

function serve(primary: Primary, near: Socket, far: Socket): void {
  const changes = new Map<number, Change>();
  for (const socket of [near, far]) {
    primary.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      primary.sockets.delete(socket);
      near.destroy();
      far.destroy();
    });
  }
  onMessages(near, (message) => {
    const id = message.readInt32LE(4);
    const { command, forwarded } = readCommand(message);
    const [name = ''] = Object.keys(command);
    const refusal = primary.refuse(command, name);
    if (refusal) {
      near.write(answerOf(id, refusal));
      return;
    }
    const change = primary.change(command, name);
    if (change) changes.set(id, change);
    far.write(forwarded);
  });
  onMessages(far, (message) => {
    const id = message.readInt32LE(8);
    const answer = changes.get(id)?.(readAnswer(message));
    changes.delete(id);
    if (answer === 'lost') near.destroy();
    else near.write(answer ? repliedAs(message, answer) : message);
  });
}

/** The error of a primary that steps down before the majority has the write. */
const NOT_REPLICATED = {
  code: 189,
  codeName: 'PrimarySteppedDown',
  errmsg: 'operation was interrupted',
};

const electionId = (count: number): BSON.ObjectId =>
  new BSON.ObjectId(count.toString(16).padStart(24, '0'));

const notPrimary = (name: string): Document => ({
  ok: 0,
  ...(WRITES.has(name)
    ? { code: 10_107, codeName: 'NotWritablePrimary', errorLabels: ['RetryableWriteError'] }
    : { code: 13_435, codeName: 'NotPrimaryNoSecondaryOk' }),
  errmsg: 'not primary',
});

/** The identity of a retryable write: its session, and its number there. */
function writeOf({ [SESSION]: session, txnNumber }: Document): string | undefined {
  if (session === undefined || txnNumber === undefined) return undefined;
  return `${(session as { id: BSON.Binary }).id.toString('hex')} ${String(txnNumber)}`;
}

/** Calls back with each whole message of the stream. */
function onMessages(socket: Socket, handle: (message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk as Buffer]);
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      handle(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}

/** The command, and the message without what a server outside of a replica set refuses. */
function readCommand(message: Buffer): { command: Document; forwarded: Buffer } {
  if (message.readInt32LE(12) === OP_QUERY) {
    const start = message.indexOf(0, HEADER_BYTES + 4) + 1 + 8;
    return { command: BSON.deserialize(message.subarray(start), AS_IS), forwarded: message };
  }
  const start = HEADER_BYTES + 5;
  const end = start + message.readInt32LE(start);
  const command = BSON.deserialize(message.subarray(start, end), AS_IS);
  const known = Object.entries(command).filter(([name]) => !OF_A_SET.has(name));
  const body = BSON.serialize(Object.fromEntries(known));
  const forwarded = Buffer.concat([message.subarray(0, start), body, message.subarray(end)]);
  forwarded.writeInt32LE(forwarded.length, 0);
  return { command, forwarded };
}

const startOfAnswer = (message: Buffer): number =>
  HEADER_BYTES + (message.readInt32LE(12) === OP_REPLY ? 20 : 5);

const readAnswer = (message: Buffer): Document =>
  BSON.deserialize(message.subarray(startOfAnswer(message)), AS_IS);

/** The message with another answer in it. */
function repliedAs(message: Buffer, answer: Document): Buffer {
  const head = message.subarray(0, startOfAnswer(message));
  const replied = Buffer.concat([head, BSON.serialize(answer)]);
  replied.writeInt32LE(replied.length, 0);
  return replied;
}

/** An answer to the message with this ID. */
function answerOf(id: number, answer: Document): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + 5);
  head.writeInt32LE(id, 8);
  head.writeInt32LE(OP_MSG, 12);
  return repliedAs(head, answer);
}

async function closeServer(server: Server, cut: () => void): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  cut();
  await closed;
}
