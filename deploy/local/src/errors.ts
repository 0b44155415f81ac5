/** An error that the user can fix: the command-line tools print its message without a stack. */
export class LocalError extends Error {
  /** The processes that were started before the error, so that a caller can stop only those. */
  readonly started: string[];

  constructor(message: string, started: string[] = []) {
    super(message);
    this.name = 'LocalError';
    this.started = started;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
