// Writes that a unique index refuses, because another process may have stored the same row.

/** True for a write that a unique index refused. */
export const isDuplicateKey = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 11_000;

/** Returns false if a unique index refused the write: a row with the same key exists. */
export async function storeOnce(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Runs an upsert again if another process has just inserted its row: the second one updates it. */
export async function upsert<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) return write();
    throw error;
  }
}
