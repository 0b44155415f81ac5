// The generators of clients that partners use: the published document makes code of each, which
// compiles and makes ten calls. The tools come from their registries, once for this machine
// (gateway/clients/tools.mjs).
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { joinMesh, ONE, type Mesh } from '../harness/shared-mesh';
import { lacks, run } from './commands';
import { GENERATORS, programFile, type Generator } from './generators';

const LIMIT_MS = 15 * 60_000;
const FIRST_CONTACT = 15_550_100_900;
const WAMID = /^wamid\./;

/** What a program of ten calls prints. */
interface Result {
  text: string;
  quote: string;
  template: string;
}

let mesh: Mesh;
let document: string;
let root: string;
beforeAll(async () => {
  mesh = await joinMesh();
  document = await (await fetch(`${new URL(mesh.base_url).origin}/openapi.json`)).text();
  root = await mkdtemp(join(tmpdir(), 'bmg-generators-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  await mesh.stop();
});

/** Generates and compiles in a folder, which is returned. */
async function make({ name, steps, calls }: Generator): Promise<string> {
  const folder = join(root, name.replace(/\W/g, '-'));
  await mkdir(folder);
  await writeFile(join(folder, 'openapi.json'), document);
  for (const [file, place] of Object.entries(calls?.files ?? {})) {
    await mkdir(dirname(join(folder, place)), { recursive: true });
    await copyFile(programFile(file), join(folder, place));
  }
  for (const step of steps) await run(await step(), folder);
  return folder;
}

describe.each(GENERATORS.map((row, index) => [row.name, row, index] as const))(
  '%s',
  (name, generator, index) => {
    const { calls, needs } = generator;
    (lacks(name, needs) ? test.skip : test)(
      calls ? 'makes code that compiles and makes ten calls' : 'makes code',
      async () => {
        const folder = await make(generator);
        if (!calls) {
          expect((await readdir(join(folder, 'made'))).length).toBeGreaterThan(1);
          return;
        }
        const contact = String(FIRST_CONTACT + index);
        const partner = await mesh.createPartner();
        const output = await run(await calls.start(), folder, {
          BASE_URL: mesh.base_url,
          PARTNER_KEY: partner.partner_key,
          WABA_ID: ONE.waba_id,
          PHONE_NUMBER_ID: ONE.phone_number_id,
          ACCESS_TOKEN: ONE.access_token,
          CONTACT: contact,
        });
        const result = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Result;
        expect(result).toEqual({
          register: ONE.waba_id,
          list: ONE.waba_id,
          text: expect.stringMatching(WAMID),
          quote: expect.stringMatching(WAMID),
          template: expect.stringMatching(WAMID),
          check: 'yes',
          events: result.text,
          timeline: 'text',
          ledger: 5,
          broadcast: 2,
        });
        const sent = await mesh.emulator.messages({ to: contact });
        const contextOf = (id: string): unknown => sent.find((one) => one.id === id)?.body.context;
        expect(contextOf(result.text)).toBeUndefined();
        expect(contextOf(result.quote)).toEqual({ message_id: result.text });
        expect(sent.find(({ id }) => id === result.template)?.type).toBe('template');
      },
      LIMIT_MS,
    );
  },
);
