export { html, Html } from './html';
export { renderPage } from './page';
export type { Page, RenderedPage } from './page';
export { displayedAmount, summary } from './summary';
export type { Purchase } from './summary';
