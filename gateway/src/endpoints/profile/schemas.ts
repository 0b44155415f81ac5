import { object, text } from '../parts/inputs';

/** Sanity alone: the upstream has shorter limits. */
const TEXT_MAX = 4_096;
const WEBSITES_MAX = 50;

export const updateProfile = object({
  about: text(TEXT_MAX),
  address: text(TEXT_MAX),
  email: text(TEXT_MAX),
  websites: {
    type: 'array',
    maxItems: WEBSITES_MAX,
    items: {
      type: 'string',
      pattern: '^[hH][tT][tT][pP][sS]?://',
      errorMessage: 'must be a URL with http or https',
    },
  },
});
