/**
 * The elements that are read from a document, by their names: `text`, or elements below. `@name` is an attribute, `#text`
 * the element's own text beside its attributes. Everything else in the document is left out.
 */
export interface Shape {
  readonly [name: string]: 'text' | Shape;
}

/** What was read. Each name has all its values, in the order of the document; a name without any is absent. */
export interface Content {
  readonly [name: string]: readonly (string | Content)[];
}
