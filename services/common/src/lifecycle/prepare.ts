// `main.js prepare`: creates the topics and indexes of the service and exits. An upgrade runs it
// before the new processes start, so that a long index build does not delay them.
import type { Logger } from '../telemetry';
import type { Service } from './component';

/** Waits for an unavailable engine, as a start does, without a timeout of its own. */
export async function prepare(service: Service, log: Logger): Promise<void> {
  const never = new AbortController().signal;
  for (const component of service.components) {
    if (!component.prepare) continue;
    await component.prepare(never);
    log.info({ component: component.name }, 'prepared');
  }
}
