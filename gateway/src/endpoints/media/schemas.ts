import { file } from '../parts/inputs';

export const uploadMedia = file;
