import { createHash } from 'node:crypto';

const NAME_LENGTH = 16;

/** Names a console session. The hash under which it is stored does not follow from the name. */
export const sessionName = (token_hash: string): string =>
  `ses_${createHash('sha256').update(token_hash).digest('hex').slice(0, NAME_LENGTH)}`;
