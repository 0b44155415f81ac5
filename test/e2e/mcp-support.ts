// Clients of the official MCP SDK.
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
} from '@modelcontextprotocol/client';

/** The revision without sessions if the server has it, or an earlier one. */
export type Mode = 'auto' | 'legacy';

/** The user of a client with elicitation: the reply to a question. */
export type User = (question: string) => 'accept' | 'decline' | 'cancel';

const clients: Client[] = [];

/** Connects a client, with elicitation if it has a user. */
export async function connectAgent(
  origin: string,
  key: string,
  mode: Mode = 'auto',
  user?: User,
): Promise<Client> {
  const client = new Client(
    { name: 'e2e', version: '1.0.0' },
    { versionNegotiation: { mode }, capabilities: user ? { elicitation: {} } : {} },
  );
  clients.push(client);
  if (user) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: user(params.message),
    }));
  }
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }),
  );
  return client;
}

/** Closes every client that was connected. */
export const closeAgents = (): Promise<unknown> =>
  Promise.all(clients.splice(0).map((client) => client.close()));

export const textsOf = ({ content }: CallToolResult): string[] =>
  content.map((part) => (part.type === 'text' ? part.text : part.type));

/** Calls a tool and reads its answer. */
export async function callTool(client: Client, name: string, given: object) {
  const result = await client.callTool({ name, arguments: { ...given } });
  const [first = '', ...notes] = textsOf(result);
  return { is_error: result.isError === true, body: JSON.parse(first), notes };
}
