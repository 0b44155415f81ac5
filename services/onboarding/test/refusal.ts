/** Matches an ApiError with this code, and with at least these details. */
export const refusal = (code: string, details?: object) =>
  expect.objectContaining({
    code,
    ...(details && { details: expect.objectContaining(details) as object }),
  });

/** The field that a refusal names, or `none`. */
export function fieldOf(work: () => unknown): string | undefined {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as { details?: { field?: string } }).details?.field;
  }
}
