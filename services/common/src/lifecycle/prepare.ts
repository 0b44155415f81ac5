// `main.js prepare`: makes in the engines what the service needs there (topics, indexes) and ends. An
// upgrade runs it before the new processes start, so that a long index build holds up none of them.
import type { Logger } from '../telemetry';
import type { Service } from './component';

/** Waits for an engine that is away, as a start does; whoever runs this sets the limit. */
export async function prepare(service: Service, log: Logger): Promise<void> {
  const never = new AbortController().signal;
  for (const component of service.components) {
    if (!component.prepare) continue;
    await component.prepare(never);
    log.info({ component: component.name }, 'prepared');
  }
}
