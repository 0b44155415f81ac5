// For a test file: agents for partner-given addresses, destroyed after each test.
import { guardedAgent, type GuardedAgent, type GuardedAgentOptions } from '../src/outbound/guarded';

export function useAgents(defaults: Partial<GuardedAgentOptions> = {}) {
  const agents: GuardedAgent[] = [];
  afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.destroy())));
  return (options: Partial<GuardedAgentOptions> = {}): GuardedAgent => {
    const agent = guardedAgent({ allowPrivate: true, ...defaults, ...options });
    agents.push(agent);
    return agent;
  };
}
