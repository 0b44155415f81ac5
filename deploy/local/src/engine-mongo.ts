// MongoDB: the machine's mongod if it has one, else a stand-in that implements the wire protocol.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ask, type Engine } from './engine';
import { requireClasses, requireJars } from './jars';
import { findJava, findProgram, javaFlags } from './tools';
import { LOCAL } from './paths';
import { HOST } from './ports';

const WANTED = {
  what: 'the local stand-in for MongoDB',
  instead: 'set MONGO_URL, or have mongod on the PATH',
};
export const SOURCE = path.join(LOCAL, 'MongoServer.java');
const OP_MSG = 2013;

export const mongo: Engine = {
  name: 'mongo',
  setting: 'MONGO_URL',
  portSetting: 'MONGO_PORT',
  defaultPort: 27_017,
  url: (port) => `mongodb://${HOST}:${port}`,
  marker: (data) => data,

  async prepare({ data, port, env, log }) {
    const mongod = findProgram('mongod', env);
    if (mongod) {
      const folder = path.join(data, 'mongod');
      mkdirSync(folder, { recursive: true });
      return {
        title: `MongoDB (${mongod})`,
        command: mongod,
        args: ['--dbpath', folder, '--port', String(port), '--bind_ip', HOST, '--quiet'],
      };
    }
    const java = await findJava(env, WANTED);
    const lib = await requireJars(env, WANTED, log);
    const classes = await requireClasses(java, SOURCE, lib);
    return {
      title: 'a stand-in for MongoDB',
      command: java,
      args: [
        // Each command allocates many objects that are garbage at once. The serial collector paused
        // every command twice a second for 18 ms, and once a minute for 120 ms.
        ...javaFlags(env['MONGO_HEAP'] ?? '1g', 'Z'),
        ...['-cp', [classes, path.join(lib, '*')].join(path.delimiter)],
        path.basename(SOURCE, '.java'),
        String(port),
        path.join(data, 'stand-in.mv'),
      ],
    };
  },

  answers: (port) =>
    ask(port, ping(), (bytes) =>
      bytes.length < 16 ? undefined : bytes.readInt32LE(12) === OP_MSG,
    ),
};

/** The bytes of an OP_MSG with `{ ping: 1, $db: 'admin' }`. */
function ping(): Buffer {
  const fields = [
    Buffer.from('\x10ping\0\x01\0\0\0', 'latin1'),
    Buffer.from('\x02$db\0\x06\0\0\0admin\0', 'latin1'),
  ];
  const size = 4 + fields.reduce((sum, field) => sum + field.length, 0) + 1;
  const document = Buffer.concat([int32(size), ...fields, Buffer.alloc(1)]);
  const body = Buffer.concat([int32(0), Buffer.alloc(1), document]);
  return Buffer.concat([int32(16 + body.length), int32(1), int32(0), int32(OP_MSG), body]);
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return buffer;
}
