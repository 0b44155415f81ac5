import { object, text } from '../parts/inputs';
import { file } from '../media/schemas';

/** The platform's own limits; which characters a name may have is the upstream's to say. */
const NAME_MAX = 512;
const LANGUAGE_MAX = 20;

export const createTemplate = object(
  {
    name: text(NAME_MAX, 'unique per business account'),
    language: text(LANGUAGE_MAX, 'language code such as en_US'),
    category: { type: 'string', enum: ['MARKETING', 'UTILITY', 'AUTHENTICATION'] },
    parameter_format: {
      type: 'string',
      enum: ['POSITIONAL', 'NAMED'],
      default: 'POSITIONAL',
      description: 'how variables are named, in all components alike',
    },
    components: {
      type: 'array',
      items: { type: 'object' },
      description: 'passed on unchanged; variables need examples',
    },
  },
  ['name', 'language', 'category', 'components'],
);

export const uploadHeader = file;
