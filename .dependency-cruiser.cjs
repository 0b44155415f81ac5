// The import rules between folders and for libraries. Every comment says what to do instead; make check enforces them.
const SERVICES = Object.entries(require('./deploy/local/src/service-table.json'));
const workspaces = SERVICES.map(([, { workspace }]) => workspace).join('|');
const packages = SERVICES.map(([name]) => `@bmg/${name}`).join('|');
const OURS = '^(proto|services|gateway|deploy|test)/';
const TESTS = '\\.test\\.ts$|^test/|/test/';

/** A library stays in the folders that wrap it; types may be named elsewhere. */
const library = (name, folders, instead) => ({
  name: `only-there-${name.replace(/[@/]/g, '')}`,
  comment: instead,
  severity: 'error',
  from: { path: OURS, pathNot: `${TESTS}|^(${folders.join('|')})` },
  to: { path: `^node_modules/${name}/`, dependencyTypesNot: ['type-only'] },
});

/** What each folder of a workspace may use of its neighbours; what is not listed stands alone. */
const FOLDERS = {
  gateway: {
    audit: ['endpoints'],
    auth: ['endpoints', 'limits'],
    'connect-page': ['auth', 'design', 'edge', 'endpoints', 'limits'],
    console: ['audit', 'auth', 'edge', 'endpoints', 'error-guide', 'limits', 'openapi'],
    design: [],
    docs: ['design', 'edge', 'endpoints', 'error-guide', 'openapi'],
    edge: ['audit', 'auth', 'endpoints', 'error-guide', 'idempotency', 'limits', 'request-log'],
    endpoints: ['error-guide'],
    'error-guide': [],
    idempotency: ['auth', 'endpoints', 'error-guide'],
    limits: [],
    mcp: ['auth', 'docs', 'edge', 'endpoints', 'error-guide', 'idempotency', 'limits', 'openapi'],
    openapi: ['endpoints', 'error-guide', 'limits'],
    'request-log': ['endpoints', 'limits'],
  },
  'services/broadcasts': {
    'contact-states': ['ground', 'pace', 'records'],
    create: ['ground', 'records', 'template'],
    ground: [],
    pace: [],
    preflight: ['contact-states', 'create', 'ground', 'pace', 'records', 'template'],
    records: ['ground'],
    runner: ['contact-states', 'ground', 'pace', 'records', 'template'],
    template: ['ground'],
  },
  'services/destinations': { connector: ['connectors', 'kinds'], connectors: [], kinds: [] },
  'services/fanout': { normalise: [] },
  'services/messaging': {
    analytics: ['messages'],
    claims: [],
    contacts: ['pricing'],
    'gap-repair': ['contacts', 'messages'],
    ledger: ['contacts', 'messages', 'pricing', 'rates'],
    media: ['send'],
    'message-log': ['ledger', 'messages'],
    messages: ['pricing'],
    preflight: ['contacts', 'media', 'messages', 'pricing', 'rates', 'send'],
    pricing: [],
    rates: ['pricing'],
    send: ['claims', 'contacts', 'messages', 'send-journal'],
    'send-journal': ['claims'],
  },
  'services/number-admin': { operations: [] },
  // Three areas of rooms, lowest first; the operator's room stands above them.
  'services/onboarding': {
    ground: [],
    'billing/payments': ['ground'],
    'billing/usage': ['ground'],
    'accounts/alerts': ['ground'],
    'accounts/audit': ['accounts/keys', 'ground'],
    'accounts/keys': ['ground'],
    'accounts/partners': ['accounts/alerts', 'accounts/sessions', 'ground'],
    'accounts/people': ['accounts/keys', 'accounts/sessions', 'ground'],
    'accounts/receivers': ['ground'],
    'accounts/requests': ['ground'],
    'accounts/sessions': ['ground'],
    'connect/due-events': ['connect/sign-up', 'ground'],
    'connect/clients': [
      'billing/payments',
      'connect/onboarding-log',
      'connect/sync',
      'connect/upstream',
      'ground',
    ],
    'connect/directory': ['accounts/keys', 'accounts/receivers', 'ground'],
    'connect/onboarding-log': [],
    'connect/sign-up': [
      'connect/clients',
      'connect/onboarding-log',
      'connect/sync',
      'connect/upstream',
      'ground',
    ],
    'connect/sync': ['connect/onboarding-log', 'connect/upstream', 'ground'],
    'connect/upstream': ['ground'],
    operator: ['accounts', 'connect', 'ground'],
  },
  'services/templates': { header: [] },
  'services/webhooks': {
    canary: ['ground'],
    delivery: [],
    'event-log': ['delivery', 'ground'],
    ground: [],
    ingress: ['canary', 'ground'],
    receivers: ['delivery', 'ground'],
    recovery: ['delivery', 'event-log'],
    shadows: ['delivery', 'event-log', 'ground', 'receivers'],
  },
};

for (const [workspace, folders] of Object.entries(FOLDERS)) {
  for (const [folder, allowed] of Object.entries(folders)) {
    const both = allowed.find((other) => folders[other]?.includes(folder));
    if (both) throw new Error(`${workspace}: ${folder} and ${both} may not use each other`);
  }
}

const inside = Object.entries(FOLDERS).flatMap(([workspace, folders]) =>
  Object.entries(folders).map(([folder, allowed]) => ({
    name: `${workspace.split('/').pop()}-${folder}`,
    comment: `${workspace}/src/${folder} may use ${allowed.join(', ') || 'no other folder'}: FOLDERS says who may use what`,
    severity: 'error',
    from: { path: `^${workspace}/src/${folder}/`, pathNot: TESTS },
    to: {
      path: `^${workspace}/src/([^/]+/|(main|service|handlers|app)\\.ts$)`,
      pathNot: `^${workspace}/src/(${[folder, ...allowed].join('|')})/`,
    },
  })),
);

const FLAT = 'services/(broadcasts|fanout|messaging|number-admin|templates|webhooks)/src/';
const AREAS = 'services/onboarding/src/(accounts|billing|connect)/[^/]+/';

/** Doors of rooms, and folders that have no entry. */
const doors = [
  ...[
    ['rooms', `${FLAT}([^/]+)/`, `${FLAT}[^/]+/`, 'services/$1/src/$2/'],
    ['areas', 'services/onboarding/src/([^/]+/[^/]+)/', AREAS, 'services/onboarding/src/$1/'],
    ['operator', 'services/onboarding/src/operator/', AREAS, 'services/onboarding/src/operator/'],
  ].map(([name, from, to, own]) => ({
    name: `${name}-through-index`,
    comment: 'a room shows others its index.ts only: export there what they need',
    severity: 'error',
    from: { path: `^${from}`, pathNot: TESTS },
    to: { path: `^${to}`, pathNot: `^${own}|/index\\.ts$|/ground/` },
  })),
  ...Object.entries(FOLDERS).map(([workspace, folders]) => ({
    name: `${workspace.split('/').pop()}-listed`,
    comment: 'this folder has no entry in FOLDERS: list what it may use',
    severity: 'error',
    from: {
      path: `^${workspace}/src/[^/]+/`,
      pathNot: `${TESTS}|^${workspace}/src/(${Object.keys(folders).join('|')})/`,
    },
    to: {},
  })),
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'move what both need into a file of its own',
      severity: 'error',
      from: { path: OURS },
      to: { circular: true },
    },
    {
      name: 'proto-stands-alone',
      comment: 'proto is the contract between processes: it imports none of our code',
      severity: 'error',
      from: { path: '^proto/(gen|bmg)/' },
      to: { path: '^(services|gateway|deploy|test)/' },
    },
    {
      name: 'common-knows-no-service',
      comment: 'common is what all share: pass what differs as an argument',
      severity: 'error',
      from: { path: '^services/common/src/', pathNot: TESTS },
      to: { path: `^(${workspaces}|deploy|test)/` },
    },
    {
      name: 'services-do-not-import-each-other',
      comment:
        'speak gRPC or Kafka, even for a type: what two services share belongs in proto or common',
      severity: 'error',
      from: { path: `^(${workspaces})/src/`, pathNot: TESTS },
      to: { path: `^((${workspaces})/|(${packages})(/|$))`, pathNot: '^$1/' },
    },
    {
      name: 'tools-speak-grpc',
      comment: 'deploy/cli and deploy/local use no code of a service: they call or start it',
      severity: 'error',
      from: { path: '^deploy/(cli|local)/src/', pathNot: TESTS },
      to: { path: `^(${workspaces})/` },
    },
    {
      name: 'production-never-imports-tests',
      comment: 'code that runs in production knows neither a test/ folder nor a test',
      severity: 'error',
      from: { path: '^(proto|services|gateway|deploy)/', pathNot: TESTS },
      to: { path: '^test/|/test/|\\.test\\.ts$' },
    },
    {
      name: 'testkit-knows-no-service',
      comment:
        'testkit serves unit tests of all workspaces: what starts services belongs in test/harness',
      severity: 'error',
      from: { path: '^test/(testkit|emulator)/', pathNot: '\\.test\\.ts$' },
      to: { path: `^(${workspaces})/|^test/(harness|e2e|bench|demo|contract)/` },
    },
    {
      name: 'compiled-tests-name-packages',
      comment:
        'what is compiled of test/ runs beside compiled packages: a relative path into src of another one is missing there, import @bmg/...',
      severity: 'error',
      from: {
        path: '^test/(attacks|emulator|demo|testkit|harness|chaos|cluster|bench)/',
        pathNot: '\\.test\\.ts$|^test/harness/global-',
      },
      to: { path: '^(services|gateway|deploy)/', dependencyTypes: ['local'] },
    },
    library(
      '@grpc/grpc-js',
      ['services/common/src/(rpc|errors)', 'proto/examples'],
      'use @bmg/common/rpc',
    ),
    library(
      'kafkajs',
      ['services/common/src/bus', 'services/destinations/src/kinds'],
      'use @bmg/common/bus',
    ),
    library(
      'ioredis',
      ['services/common/src/redis', 'gateway/src/limits'],
      'use @bmg/common/redis',
    ),
    library(
      'mongodb',
      [
        'services/common/src/(mongo|purge|errors)',
        'services/[a-z-]+/src/store',
        'services/onboarding/src/(ground|operator/store|[a-z-]+/[a-z-]+/store)',
        'services/messaging/src/claims/store',
      ],
      'database access belongs in store.ts or store/, connections in @bmg/common/mongo',
    ),
    library('koa', ['gateway/src'], 'only the gateway is a Koa application'),
    library(
      '@modelcontextprotocol/server',
      ['gateway/src/mcp'],
      'the protocol for agents belongs in gateway/src/mcp',
    ),
    library('@koa/router', ['gateway/src'], 'only the gateway is a Koa application'),
    library(
      'ajv',
      [
        'services/common/src/config',
        'services/common/src/destinations',
        'gateway/src/endpoints/parts',
      ],
      'schemas are compiled in gateway/src/endpoints/parts, settings in @bmg/common/config, those of destinations in @bmg/common/destinations',
    ),
    library(
      'undici',
      ['services/common/src/(upstream|outbound|files)', 'deploy/cli/src/certificates'],
      'use @bmg/common/upstream, /outbound or /files',
    ),
    library(
      'amqplib',
      ['services/destinations/src/kinds'],
      'partners’ queues are reached through the service destinations',
    ),
    library(
      '@aws-sdk',
      ['services/destinations/src/kinds'],
      'partners’ queues and buckets are reached through the service destinations',
    ),
    library(
      '@simplewebauthn/server',
      ['services/onboarding/src/accounts/people'],
      'passkeys are verified in services/onboarding/src/accounts/people',
    ),
    library(
      'openid-client',
      ['services/onboarding/src/accounts/people'],
      'the issuer is reached from services/onboarding/src/accounts/people/issuer.ts',
    ),
    ...inside,
    ...doors,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|^proto/gen/.*\\.binpb' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.lint.json' },
    enhancedResolveOptions: {
      exportsFields: [],
      extensions: ['.ts', '.tsx', '.js', '.json'],
    },
  },
};
