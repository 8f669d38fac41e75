import { openCollector } from './collector';

/** What a collector answers, by the name of the call. */
export const EXAMPLE_ANSWERS = {
  export: { partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } },
} as const;

export function exampleCalls(url: string) {
  const collector = openCollector({ url });
  return { calls: { export: () => collector.take([]) }, close: () => collector.close() };
}
