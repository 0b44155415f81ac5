// The generators that the document has to work with. Each row makes code, compiles it together with
// a program of ten calls (programs/calls), and starts that program.
import { join } from 'node:path';
import { tool, type Command } from './commands';

export interface Generator {
  name: string;
  /** Programs that the machine has to have. */
  needs: readonly string[];
  /** What generates and compiles, run one after the other in a folder that holds openapi.json. */
  steps: readonly Step[];
  /**
   * The program of ten calls, which is compiled with the code. If it is absent, the generator only
   * has to generate.
   */
  calls?: Calls;
}

export type Step = () => Promise<Command>;

interface Calls {
  /** Files of programs/calls, with their places beside the generated code. */
  files: Record<string, string>;
  start: Step;
}

const PROGRAMS = join(__dirname, 'programs/calls');
/** The path of a file of a program. */
export const programFile = (name: string): string => join(PROGRAMS, name);

const command =
  (...parts: Command): Step =>
  () =>
    Promise.resolve(parts);
const ofTool =
  (name: string, ...args: string[]): Step =>
  async () => [...(await tool(name)), ...args];

/** The guide advises these: events become no calls, and no tests or pages are made. */
const PARTS =
  'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
const openapiGenerator = (language: string, place: string, ...options: string[]): Step =>
  ofTool(
    'openapi-generator',
    'generate',
    ...['-i', 'openapi.json', '-g', language, '-o', place, '--global-property', PARTS],
    ...options,
  );
const OPENAPI_GENERATOR = ['java', 'mvn'];

/** Imported code is checked only where the program uses it: the rest is the generator's. */
const checkPython = ofTool('python-checked', '-m', 'mypy', '--follow-imports=silent', 'calls.py');
const startPython = ofTool('python-checked', 'calls.py');

const buildMaven = command(
  'mvn',
  '-q',
  '-B',
  // The program is written for it; the generated code is for Java 8.
  '-Djava.version=17',
  // A compiler in the background would outlive the test.
  '-Dkotlin.compiler.daemon=false',
  'compile',
  'dependency:copy-dependencies',
  '-DincludeScope=runtime',
  '-DoutputDirectory=target/lib',
);
const startMaven = (main: string): Step =>
  command('java', '-cp', 'target/classes:target/lib/*', main);

const buildGo = [
  command('go', 'mod', 'init', 'generated.example/calls'),
  command('go', 'mod', 'tidy'),
  command('go', 'build', '-o', 'calls', '.'),
];
const startGo = command('./calls');

/** Strict, and for the language and the runtime that the generators support at least. */
const TSC_OPTIONS =
  '--strict --skipLibCheck --target es2022 --lib es2023,dom,dom.iterable --outDir out'.split(' ');
const buildTypeScript = [
  async (): Promise<Command> => ['ln', '-s', ...(await tool('node-packages')), 'node_modules'],
  ofTool('tsc', ...TSC_OPTIONS, '--module', 'commonjs', '--moduleResolution', 'node10', 'calls.ts'),
];
const typeScriptCalls = (file: string): Calls => ({
  files: { [file]: 'calls.ts', 'ten-calls.mts': 'ten-calls.ts' },
  start: ofTool('node', 'out/calls.js'),
});

const CALLED: readonly Generator[] = [
  {
    name: 'openapi-generator python',
    needs: [...OPENAPI_GENERATOR, 'python3'],
    steps: [openapiGenerator('python', '.'), checkPython],
    calls: { files: { 'openapi_generator.py': 'calls.py' }, start: startPython },
  },
  {
    name: 'openapi-generator java',
    needs: OPENAPI_GENERATOR,
    steps: [openapiGenerator('java', '.'), buildMaven],
    calls: { files: { 'Calls.java': 'src/main/java/Calls.java' }, start: startMaven('Calls') },
  },
  {
    name: 'openapi-generator kotlin',
    needs: OPENAPI_GENERATOR,
    steps: [openapiGenerator('kotlin', '.'), buildMaven],
    calls: {
      files: { 'Calls.kt': 'src/main/kotlin/Calls.kt', 'kotlin-pom.xml': 'pom.xml' },
      start: startMaven('CallsKt'),
    },
  },
  {
    name: 'openapi-generator go',
    needs: [...OPENAPI_GENERATOR, 'go'],
    steps: [
      openapiGenerator('go', 'rest', '--additional-properties', 'packageName=rest,withGoMod=false'),
      ...buildGo,
    ],
    calls: { files: { 'openapi_generator.go': 'main.go' }, start: startGo },
  },
  {
    name: 'openapi-generator typescript-fetch',
    needs: [...OPENAPI_GENERATOR, 'npm'],
    steps: [openapiGenerator('typescript-fetch', 'made'), ...buildTypeScript],
    calls: typeScriptCalls('openapi-generator.mts'),
  },
  {
    name: 'oapi-codegen',
    needs: ['go'],
    steps: [
      command('mkdir', 'rest'),
      ofTool(
        'oapi-codegen',
        ...'-generate types,client -package rest -o rest/rest.go openapi.json'.split(' '),
      ),
      ...buildGo,
    ],
    calls: { files: { 'oapi_codegen.go': 'main.go' }, start: startGo },
  },
  {
    name: 'openapi-python-client',
    needs: ['python3'],
    steps: [
      ofTool(
        'python-checked',
        ...['-m', 'openapi_python_client', 'generate', '--fail-on-warning', '--meta=none'],
        ...['--path=openapi.json', '--output-path=made', '--config=python-client.yaml'],
      ),
      checkPython,
    ],
    calls: {
      files: {
        'openapi_python_client.py': 'calls.py',
        'openapi_python_client.yaml': 'python-client.yaml',
      },
      start: startPython,
    },
  },
  {
    name: 'openapi-typescript',
    needs: ['npm'],
    steps: [
      ofTool('openapi-typescript', 'openapi.json', '-o', 'made/schema.ts'),
      ...buildTypeScript,
    ],
    calls: typeScriptCalls('openapi-typescript.mts'),
  },
  {
    name: 'orval',
    needs: ['npm'],
    steps: [
      ofTool('orval', ...'--input openapi.json --output made/client.ts --client fetch'.split(' ')),
      ...buildTypeScript,
    ],
    calls: typeScriptCalls('orval.mts'),
  },
  {
    name: 'hey-api',
    needs: ['npm'],
    steps: [
      ofTool('hey-api', ...'-i openapi.json -o made -c @hey-api/client-fetch'.split(' ')),
      ...buildTypeScript,
    ],
    calls: typeScriptCalls('hey-api.mts'),
  },
];

/** Their compilers and registries may be out of reach: their code is generated only. */
const GENERATED = ['php', 'csharp', 'rust', 'ruby'].map((language): Generator => ({
  name: `openapi-generator ${language}`,
  needs: OPENAPI_GENERATOR,
  steps: [openapiGenerator(language, 'made')],
}));

export const GENERATORS: readonly Generator[] = [...CALLED, ...GENERATED];
