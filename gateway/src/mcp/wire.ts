// Builds the MCP server, whose tools are rows of the endpoint table.
import type { Logger } from '@bmg/common/telemetry';
import type { Auth } from '../auth/wire';
import type { Documentation } from '../docs';
import type { ChainDependencies } from '../edge/chain';
import type { ObserveDependencies } from '../edge/observe';
import { createToolCalls } from './calls';
import { mcp } from './index';
import { createResources } from './resources';
import { createMcpServer } from './server';

interface Parts {
  auth: Auth;
  chain: ChainDependencies;
  observe: ObserveDependencies;
  docs: Documentation;
  log: Logger;
}

export function wireMcp({ auth, chain, observe, docs, log }: Parts) {
  const calls = createToolCalls({ peppers: auth.peppers, docs_url: observe.docs_url });
  const server = createMcpServer({ calls, resources: createResources(docs), log });
  return mcp({ chain, observe, server, public_url: docs.public_url });
}
