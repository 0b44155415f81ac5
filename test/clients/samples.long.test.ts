// The samples of the guides in the languages that no other test runs: each is compiled, and
// sends the requests that the sample of Node.js sends.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { translate, type Samples } from '../../gateway/src/docs/samples';
import { codeBlocks } from '../contract/receiving/page';
import { lacks, run, type Command } from './commands';

const GUIDES = resolve(__dirname, '../../gateway/docs/guides');
const LIMIT_MS = 10 * 60_000;

interface Runner {
  needs: readonly string[];
  file: string;
  /** What compiles the sample, before it runs. */
  compile?: Command;
  start: Command;
}

const NODE: Runner = {
  needs: ['node'],
  file: 'sample.mjs',
  start: [process.execPath, 'sample.mjs'],
};
const RUNNERS = {
  php: { needs: ['php'], file: 'sample.php', start: ['php', 'sample.php'] },
  go: {
    needs: ['go'],
    file: 'main.go',
    compile: ['go', 'build', '-o', 'sample', 'main.go'],
    start: ['./sample'],
  },
  java: {
    needs: ['java'],
    file: 'Sample.java',
    compile: ['javac', 'Sample.java'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', 'Sample'],
  },
} as const satisfies Partial<Record<keyof Samples, Runner>>;

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
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'bmg-samples-'));
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** The variables that a sample reads. */
const VARIABLES = /env\.([A-Z_]+)/g;

/** Runs a sample in a folder of its own; returns the requests that it sent. */
async function requestsOf(code: string, variables: readonly string[], one: Runner, name: string) {
  const home = join(folder, name);
  await mkdir(home);
  await writeFile(join(home, one.file), code);
  if (one.compile) await run(one.compile, home);
  const { port } = server.address() as AddressInfo;
  const values = variables.map((variable) => [variable, `${variable.toLowerCase()}-1`]);
  requests.length = 0;
  const printed = await run(one.start, home, {
    ...Object.fromEntries(values),
    BASE_URL: `http://127.0.0.1:${port}/v1`,
    EMULATOR_URL: `http://127.0.0.1:${port}`,
  });
  expect(printed).toContain('success');
  return [...requests];
}

async function allSamples(): Promise<Samples[]> {
  const files = await readdir(GUIDES);
  const guides = await Promise.all(files.map((name) => readFile(join(GUIDES, name), 'utf8')));
  return guides
    .flatMap((guide) => codeBlocks(guide, 'sh'))
    .flatMap((script) => translate(script) ?? []);
}

for (const [language, runner] of Object.entries(RUNNERS)) {
  (lacks(`The samples in ${language}`, runner.needs) ? test.skip : test)(
    `every sample in ${language} sends the requests of the sample in Node.js`,
    async () => {
      const samples = await allSamples();
      expect(samples.length).toBeGreaterThan(30);
      for (const [at, sample] of samples.entries()) {
        const variables = [...sample.node.matchAll(VARIABLES)].map(([, name = '']) => name);
        const wanted = await requestsOf(sample.node, variables, NODE, `${language}-node-${at}`);
        const code = sample[language as keyof typeof RUNNERS];
        const sent = await requestsOf(code, variables, runner, `${language}-${at}`);
        expect([code, sent]).toEqual([code, wanted]);
      }
    },
    LIMIT_MS,
  );
}
