import { MEDIA_TYPES } from '@bmg/common/files';
import { file } from '../parts/inputs';

export const uploadMedia = file(Object.values(MEDIA_TYPES).flat());
