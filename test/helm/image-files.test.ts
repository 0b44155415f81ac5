// `make image-check` compiles in the build stage, which takes minutes; this finds one cause of its
// failures in a moment.
import { importsLeftOut } from './image-layout';

test('no file that an image is built from imports one that .dockerignore leaves out', () => {
  expect(importsLeftOut()).toEqual([]);
});
