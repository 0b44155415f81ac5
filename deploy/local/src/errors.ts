/**
 * A fault that a person can mend: the command-line tools print the message alone, without a stack.
 */
export class LocalError extends Error {
  /** Names of what had been started before the fault, so that a caller can stop just that. */
  readonly started: string[];

  constructor(message: string, started: string[] = []) {
    super(message);
    this.name = 'LocalError';
    this.started = started;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
