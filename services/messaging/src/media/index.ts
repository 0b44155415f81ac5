export { readMediaNode } from './download';
export { limitOfKind, type MediaKind, mediaRule } from './limits';
