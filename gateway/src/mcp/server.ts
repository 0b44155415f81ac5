// The MCP protocol, by its official SDK: of the revision without sessions, and of the earlier ones
// whose clients begin with `initialize`. Nothing is kept between requests, so that any replica can
// answer them. The SDK is loaded by the first request.
import { API_VERSION } from '@bmg/common/notices';
import type { Logger } from '@bmg/common/telemetry';
import type {
  ClientCapabilities,
  ListToolsResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Fields } from '../endpoints/endpoint';
import type { Documentation } from '../docs';
import { isQuestion, type Caller, type CallTool } from './calls';
import type { Dialog } from './question';
import { tools } from './tools';

/** Answers one message of a client. Rejects only if the SDK fails. */
export type AnswerMessage = (request: Request, body: Fields, caller: Caller) => Promise<Response>;

export interface ServerDependencies {
  call: CallTool;
  docs: Documentation;
  log: Logger;
}

const NAME = 'business-messaging-gateway';
const TITLE = 'Business Messaging Gateway';
const INSTRUCTIONS =
  'Sends business messages and reports their outcome. Begin with list_numbers: other tools take the waba_id of an item. Tools that send ask for a confirmation first and show the price: let a person decide. Errors have a code and name the argument in details.field or details.fields. The guides are resources.';
/** Lists that clients may keep; they change with a release. */
const LISTS_TTL_MS = 5 * 60_000;

const load = () => import('@modelcontextprotocol/server');
type Sdk = Awaited<ReturnType<typeof load>>;

export function createMcpServer(deps: ServerDependencies): AnswerMessage {
  let loaded: Promise<AnswerMessage> | undefined;
  return async (request, body, caller) => {
    const answer = await (loaded ??= load().then((sdk) => createAnswer(sdk, deps)));
    return answer(request, body, caller);
  };
}

/** Their schemas are JSON; the SDK has a type of its own for that. */
const LISTED = tools.map(({ listed }) => listed) as unknown as ListToolsResult['tools'];

function createAnswer(sdk: Sdk, deps: ServerDependencies): AnswerMessage {
  const onerror = (error: Error): void =>
    deps.log.debug({ err: error }, 'an MCP request was refused');
  const createServer = serverFactory(sdk, deps);
  const modern = sdk.createMcpHandler(({ authInfo }) => createServer(callerIn(authInfo)), {
    legacy: 'reject',
    // Nothing changes while a process runs, so that no stream of changes is opened.
    maxSubscriptions: 0,
    onerror,
  });
  return async (request, parsedBody, caller) => {
    if (!(await sdk.isLegacyRequest(request, parsedBody))) {
      return modern.fetch(request, { parsedBody, authInfo: authInfoOf(caller) });
    }
    const server = createServer(caller);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    server.onerror = onerror;
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  };
}

/** The SDK passes it on as it is; it never sees a key. */
const authInfoOf = (caller: Caller) => ({
  token: '',
  clientId: caller.partner_id,
  scopes: [],
  extra: { caller },
});

const callerIn = (authInfo: { extra?: Record<string, unknown> } | undefined): Caller =>
  authInfo?.extra?.['caller'] as Caller;

const QUESTION = 'send';
/** To accept is to confirm: there is nothing to fill in. */
const NO_FIELDS = { type: 'object' as const, properties: {} };

/**
 * Elicitation of the revision without sessions: the client names its capabilities in each request,
 * and repeats the call with the reply. Earlier revisions need a session for it.
 */
function dialogOf(sdk: Sdk, request: ServerContext['mcpReq']): Dialog {
  const envelope = request.envelope as Fields | undefined;
  const capabilities = envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY] as
    ClientCapabilities | undefined;
  const { elicitation } = capabilities ?? {};
  // An elicitation without a mode means forms.
  const can_ask = elicitation !== undefined && !(elicitation.url && !elicitation.form);
  const reply = sdk.inputResponse(request.inputResponses, QUESTION);
  return {
    can_ask,
    ...(reply.kind === 'elicit' && {
      reply: { is_accepted: reply.action === 'accept', confirmation: request.requestState() },
    }),
  };
}

/** The guides and the index, under the addresses at which the documentation serves them. */
function resourcesOf({ guides, llms, public_url }: Documentation) {
  const index = {
    uri: `${public_url}/llms.txt`,
    name: 'llms.txt',
    title: 'What the documentation has',
    mimeType: 'text/plain',
    text: llms,
  };
  const pages = guides.guides.map(({ slug, title, markdown }) => ({
    uri: `${public_url}/docs/${slug}.md`,
    name: slug,
    title,
    mimeType: 'text/markdown',
    text: markdown,
  }));
  return [index, ...pages];
}

/** A server for one request: it knows its caller. */
function serverFactory(sdk: Sdk, { call, docs }: ServerDependencies) {
  const resources = resourcesOf(docs);
  const listed = resources.map(({ text: _text, ...resource }) => resource);
  return (caller: Caller): InstanceType<Sdk['Server']> => {
    const hint = { ttlMs: LISTS_TTL_MS, cacheScope: 'public' as const };
    const server = new sdk.Server(
      { name: NAME, title: TITLE, version: API_VERSION },
      {
        capabilities: { tools: {}, resources: {} },
        instructions: INSTRUCTIONS,
        cacheHints: { 'tools/list': hint, 'resources/list': hint, 'resources/read': hint },
      },
    );
    server.setRequestHandler('tools/list', () => ({ tools: LISTED }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const dialog = dialogOf(sdk, mcpReq);
      const outcome = await call(params.name, params.arguments ?? {}, caller, dialog);
      if (!outcome) {
        throw new sdk.ProtocolError(
          sdk.ProtocolErrorCode.InvalidParams,
          `there is no such tool: tools/list has all of them`,
        );
      }
      if (!isQuestion(outcome)) return outcome;
      const { message, confirmation } = outcome;
      const question = sdk.inputRequired.elicit({ message, requestedSchema: NO_FIELDS });
      return sdk.inputRequired({
        inputRequests: { [QUESTION]: question },
        requestState: confirmation,
      });
    });
    server.setRequestHandler('resources/list', () => ({ resources: listed }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      const found = resources.find((one) => one.uri === uri);
      if (!found) throw new sdk.ResourceNotFoundError(uri, 'there is no such resource');
      return { contents: [{ uri, mimeType: found.mimeType, text: found.text }] };
    });
    return server;
  };
}
