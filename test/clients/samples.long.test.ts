// The samples of the guides in the languages that no other test runs: each is compiled, and
// sends the requests that the sample of Node.js sends.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { translate, type Samples } from '../../gateway/src/docs/samples';
import { codeBlocks } from '../contract/receiving/page';
import { lacks, run, type Command } from './commands';

const GUIDES = resolve(__dirname, '../../gateway/docs/guides');
const LIMIT_MS = 10 * 60_000;

interface Runner {
  needs: readonly string[];
  /** The file of a sample, below the folder of all. */
  file(at: number): string;
  /** The sample with a name of its own, if all are compiled together. */
  named?(code: string, at: number): string;
  /** What compiles all samples, before they run. */
  compile?: readonly Command[];
  start(at: number): Command;
}

const NODE: Runner = {
  needs: ['node'],
  file: (at) => `sample${at}.mjs`,
  start: (at) => [process.execPath, `sample${at}.mjs`],
};
const RUNNERS: Readonly<Record<'php' | 'go' | 'java', Runner>> = {
  php: {
    needs: ['php'],
    file: (at) => `sample${at}.php`,
    start: (at) => ['php', `sample${at}.php`],
  },
  go: {
    needs: ['go'],
    file: (at) => `sample${at}/main.go`,
    compile: [
      ['go', 'mod', 'init', 'samples.example/test'],
      ['go', 'build', '-o', 'programs/', './...'],
    ],
    start: (at) => [`./programs/sample${at}`],
  },
  java: {
    needs: ['java', 'javac'],
    file: (at) => `Sample${at}.java`,
    named: (code, at) => code.replace('class Sample ', `class Sample${at} `),
    compile: [['sh', '-c', 'javac *.java']],
    start: (at) => ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', `Sample${at}`],
  },
};

/** Headers of the API. The others are those of the language, and so is a type that is not JSON. */
const OWN_HEADER = /^(x-.*|idempotency-key|last-event-id)$/;
const JSON_TYPE = 'application/json';

async function recorded(request: IncomingMessage): Promise<object> {
  const body = await text(request);
  const headers = Object.entries(request.headers).filter(([name]) => OWN_HEADER.test(name));
  const is_json = request.headers['content-type'] === JSON_TYPE;
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(headers),
    is_json,
    body: is_json ? (JSON.parse(body) as unknown) : body,
  };
}

const requests: object[] = [];
const server = createServer((request, response) => {
  void recorded(request).then((one) => {
    requests.push(one);
    response.setHeader('content-type', 'application/json').end('{"success":true}');
  });
});
let folder: string;
let samples: Samples[];
/** The requests that each sample sends in Node.js. */
let wanted: object[][];
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'bmg-samples-'));
  const files = await readdir(GUIDES);
  const guides = await Promise.all(files.map((name) => readFile(join(GUIDES, name), 'utf8')));
  samples = guides
    .flatMap((guide) => codeBlocks(guide, 'sh'))
    .flatMap((script) => translate(script) ?? []);
  expect(samples.length).toBeGreaterThan(30);
  wanted = await requestsIn('node', NODE);
}, LIMIT_MS);
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** The variables that a sample reads. */
const VARIABLES = /env\.([A-Z_]+)/g;

function environmentOf({ node }: Samples): NodeJS.ProcessEnv {
  const { port } = server.address() as AddressInfo;
  const names = [...node.matchAll(VARIABLES)].map(([, name = '']) => name);
  return {
    ...Object.fromEntries(names.map((name) => [name, `${name.toLowerCase()}-1`])),
    BASE_URL: `http://127.0.0.1:${port}/v1`,
    EMULATOR_URL: `http://127.0.0.1:${port}`,
  };
}

/** Compiles and runs all samples in a language; returns the requests that each sends. */
async function requestsIn(language: keyof Samples, runner: Runner): Promise<object[][]> {
  const { file, named = (code: string) => code, compile = [], start } = runner;
  const home = join(folder, language);
  for (const [at, sample] of samples.entries()) {
    const path = join(home, file(at));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, named(sample[language], at));
  }
  for (const command of compile) await run(command, home);
  const sent: object[][] = [];
  for (const [at, sample] of samples.entries()) {
    requests.length = 0;
    expect(await run(start(at), home, environmentOf(sample))).toContain('success');
    sent.push([...requests]);
  }
  return sent;
}

for (const [language, runner] of Object.entries(RUNNERS) as Array<[keyof typeof RUNNERS, Runner]>) {
  (lacks(`The samples in ${language}`, runner.needs) ? test.skip : test)(
    `every sample in ${language} sends the requests of the sample in Node.js`,
    async () => expect(await requestsIn(language, runner)).toEqual(wanted),
    LIMIT_MS,
  );
}
