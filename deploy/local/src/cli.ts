import { LocalError, messageOf } from './errors';

/**
 * Runs a command-line tool. An error that the user can fix is printed as one message, any other
 * with its stack.
 */
export function runCli(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const known = error instanceof LocalError;
    console.error(known ? messageOf(error) : error);
    process.exitCode = 1;
  });
}
