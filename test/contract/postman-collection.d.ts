/** What the tests use of it; the package has types that its manifest does not name. */
declare module 'postman-collection' {
  export class Collection {
    constructor(definition: object);
    toJSON(): unknown;
  }
  export class Property {
    static replaceSubstitutions(text: string, variables: object[]): string;
  }
}
