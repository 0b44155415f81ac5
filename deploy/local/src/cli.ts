import { LocalError, messageOf } from './errors';

/**
 * The whole of a command-line tool: a fault that a person can mend is one message, anything else
 * has its stack.
 */
export function runCli(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const known = error instanceof LocalError;
    console.error(known ? messageOf(error) : error);
    process.exitCode = 1;
  });
}
