import type { Feature } from '../../ground/feature';
import { createDirectoryHandlers, type DirectoryHandlers } from './handlers';

export const createDirectory = (
  deps: Parameters<typeof createDirectoryHandlers>[0],
): Feature & { handlers: DirectoryHandlers } => ({
  handlers: createDirectoryHandlers(deps),
});
