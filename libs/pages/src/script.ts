import { createHash } from 'node:crypto';
import { Html } from './html';

/** A script inside a page. Write its text in code, never from input: the page's policy allows it by its hash. */
export class Script {
  readonly element: Html;
  /** For the policy. */
  readonly source: string;

  constructor(text: string) {
    this.element = new Html(`<script>${text}</script>`);
    this.source = hashSource(text);
  }
}

/** Submits the page's only form. Where scripts do not run, its button does. */
export const SUBMIT_AT_ONCE = new Script('document.forms[0].requestSubmit();');

/** What a policy allows this inline text by. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
