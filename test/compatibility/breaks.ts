import { apiBreaks } from './api-breaks';
import type { Schema } from './schema';
import { alternativesOf } from './schema';
import type { QueryPromise, RightsPromise, Snapshot, TopicPromise } from './snapshot';

/**
 * What a release must not change within a version of its topics, one sentence each. Both releases run at the same time
 * during an upgrade, and it may be taken back. So each must read what the other writes: schemas may only get optional
 * fields, and new messages, topics, queries, collections and rights may be added.
 */
export function breaksBetween(last: Snapshot, now: Snapshot): string[] {
  return [
    ...inBoth(last.topics, now.topics, topicBreaks, (name) => [`The topic ${name} is gone.`]),
    ...inBoth(
      last.messages,
      now.messages,
      (before, after, name) => schemaBreaks(shortName(name), before, after),
      (name) => [goneMessage(name, now)],
    ),
    ...inBoth(last.queries, now.queries, queryBreaks, (name) => [`The query ${name} is gone.`]),
    ...inBoth(
      last.documents,
      now.documents,
      (before, after, name) => schemaBreaks(name, before, after),
      (name) => [`The collection ${name} is gone: its documents of the last release are read no more.`],
    ),
    // Provisioning leaves the role of a user who is gone.
    ...inBoth(last.rights, now.rights, rightBreaks, () => []),
    ...apiBreaks(last.api.openapi, now.api.openapi),
  ];
}

function inBoth<T>(
  last: Readonly<Record<string, T>>,
  now: Readonly<Record<string, T>>,
  compare: (before: T, after: T, name: string) => string[],
  gone: (name: string) => string[],
): string[] {
  return Object.entries(last).flatMap(([name, before]) => {
    const after = now[name];
    return after === undefined ? gone(name) : compare(before, after, name);
  });
}

const shortName = (message: string): string => message.slice(message.indexOf('/') + 1);

function goneMessage(name: string, { messages }: Snapshot): string {
  const [topic, type] = name.split('/');
  const moved = Object.keys(messages).find((other) => shortName(other) === type);
  return moved === undefined
    ? `${type} of ${topic} is gone: readers of the last release may wait for it.`
    : `${type} moved from ${topic} to ${moved.split('/')[0]}, where readers of the last release do not look.`;
}

const DAY_MS = 86_400_000;

function topicBreaks(before: TopicPromise, after: TopicPromise, name: string): string[] {
  const days = ({ retentionMs }: TopicPromise): number => retentionMs / DAY_MS;
  return [
    ...(before.key === after.key ? [] : [`The key of ${name} was ${before.key} and is ${after.key}: order breaks.`]),
    ...(before.partitions === after.partitions
      ? []
      : [`${name} had ${before.partitions} partitions and has ${after.partitions}: keys move between them.`]),
    ...(after.retentionMs >= before.retentionMs
      ? []
      : [`${name} keeps messages for ${days(after)} days instead of ${days(before)}.`]),
    ...(before.deadLetters === after.deadLetters
      ? []
      : [
          `The dead letters of ${name} went to ${before.deadLetters ?? 'no topic'} and go to ${after.deadLetters ?? 'none'}.`,
        ]),
  ];
}

function queryBreaks(before: QueryPromise, after: QueryPromise, name: string): string[] {
  const at = ({ owner, method = 'GET', path }: QueryPromise): string => `${method} ${path} of ${owner}`;
  const refused = before.askers.filter((asker) => !after.askers.includes(asker));
  return [
    ...(at(before) === at(after) ? [] : [`The query ${name} was ${at(before)} and is ${at(after)}.`]),
    ...refused.map((asker) => `The query ${name} refuses ${asker}, which asks it in the last release.`),
    ...schemaBreaks(`${name} parameters`, before.parameters, after.parameters),
    ...schemaBreaks(`${name} answer`, before.answer, after.answer),
  ];
}

/** Provisioning gives a role exactly the rights of its own version, while replicas of the last release still run. */
function rightBreaks(before: RightsPromise, after: RightsPromise, user: string): string[] {
  return Object.entries(before).flatMap(([place, actions]) => {
    const [database = ''] = place.split('.');
    const allowed = [...(after[place] ?? []), ...(after[database] ?? [])];
    const lost = actions.filter((action) => !allowed.includes(action));
    return lost.map((action) => `${user} may not ${action} in ${place} any more, which the last release may need.`);
  });
}

/** @param place where in a message or document this is, for the sentences */
export function schemaBreaks(place: string, before: Schema, after: Schema): string[] {
  const [was, is] = [alternativesOf(before), alternativesOf(after)];
  const [one, other] = [was[0], is[0]];
  if (was.length === 1 && is.length === 1 && one !== undefined && other !== undefined) {
    return singleBreaks(place, one, other);
  }
  const byLabel = new Map(is.map((alternative) => [labelOf(alternative), alternative]));
  const known = new Set(was.map(labelOf));
  return [
    ...was.flatMap((alternative) => {
      const label = labelOf(alternative);
      const same = byLabel.get(label);
      if (same === undefined) return [`${place} no longer accepts ${label}, which the last release may have written.`];
      return singleBreaks(alternative.type === 'object' ? `${place} (${label})` : place, alternative, same);
    }),
    ...[...byLabel.keys()]
      .filter((label) => !known.has(label))
      .map((label) => `${place} accepts ${label}, which readers of the last release do not know.`),
  ];
}

/** Names one alternative of a union: its value, the constants that tell it from others, or its type. */
function labelOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const constants = Object.entries(schema.properties ?? {}).filter(
    ([name, { const: value }]) => value !== undefined && schema.required?.includes(name),
  );
  if (constants.length === 0) return typeOf(schema);
  return constants.map(([name, { const: value }]) => `${name} ${JSON.stringify(value)}`).join(', ');
}

function typeOf({ type, stored, const: value }: Schema): string {
  if (value !== undefined) return JSON.stringify(value);
  return stored ?? type ?? 'anything';
}

function singleBreaks(place: string, before: Schema, after: Schema): string[] {
  if (typeOf(before) !== typeOf(after)) return [`${place} was ${typeOf(before)} and is ${typeOf(after)}.`];
  return [
    ...boundBreaks(place, before, after),
    ...propertyBreaks(place, before, after),
    ...(before.items === undefined || after.items === undefined
      ? []
      : schemaBreaks(`${place}[]`, before.items, after.items)),
    ...otherBreaks(place, before, after),
  ];
}

/** Larger is narrower for the first ones, wider for the others. */
const LOWER = ['minLength', 'minimum', 'minItems', 'minProperties'] as const;
const UPPER = ['maxLength', 'maximum', 'maxItems', 'maxProperties'] as const;

function boundBreaks(place: string, before: Schema, after: Schema): string[] {
  const shown = (bound: number | undefined): string => String(bound ?? 'not set');
  return [...LOWER, ...UPPER].flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    if (was === is) return [];
    const isLower = LOWER.some((lower) => lower === name);
    const open = isLower ? -Infinity : Infinity;
    const grew = (is ?? open) > (was ?? open);
    return grew === isLower
      ? [
          `${place} is narrower than what the last release may have written: ${name} was ${shown(was)} and is ${shown(is)}.`,
        ]
      : [`${place} is wider than readers of the last release accept: ${name} was ${shown(was)} and is ${shown(is)}.`];
  });
}

function propertyBreaks(place: string, before: Schema, after: Schema): string[] {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  const [needed, needs] = [new Set(before.required), new Set(after.required)];
  const kept = Object.entries(was).flatMap(([name, schema]) => {
    const field = `${place}.${name}`;
    const next = is[name];
    if (next === undefined) return [`${field} is gone: readers of the last release may need it.`];
    return [
      ...(needed.has(name) && !needs.has(name)
        ? [`${field} has become optional: readers of the last release require it.`]
        : []),
      ...(needs.has(name) && !needed.has(name)
        ? [`${field} has become required: what the last release wrote may lack it.`]
        : []),
      ...schemaBreaks(field, schema, next),
    ];
  });
  const added = [...needs].filter((name) => was[name] === undefined);
  return [
    ...kept,
    ...added.map((name) => `${place}.${name} is new and required: what the last release wrote lacks it.`),
  ];
}

/** Keywords that are compared whole, because any change of them breaks something. */
const OTHER = ['pattern', 'patternProperties', 'additionalProperties'] as const;

function otherBreaks(place: string, before: Schema, after: Schema): string[] {
  return OTHER.flatMap((name) => {
    const [was, is] = [JSON.stringify(before[name]), JSON.stringify(after[name])];
    return was === is ? [] : [`${place} has another ${name}: it was ${was ?? 'not set'} and is ${is ?? 'not set'}.`];
  });
}
