import type { AclEntry, Admin } from 'kafkajs';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs';
import type { ServiceDeclaration, TopicName } from '@gateway/contracts';
import { outsideReaders, services, topics, usersOf } from '@gateway/contracts';
import type { KafkaClient } from './client';
import { DEAD_LETTER_GROUPS } from './dead-letters';
import { deadLettersOf, writtenTopics } from './topic-use';
import { deadLetterTopics, topicName, topicOf, withAdmin } from './topics';

export type Operation = 'read' | 'write' | 'describe' | 'describeConfigs' | 'create' | 'alter' | 'alterConfigs';

/** One thing that a user may do. Kafka adds `describe` to the others, and `describeConfigs` to `alterConfigs`. */
export interface Access {
  readonly user: string;
  readonly operation: Operation;
  readonly resource: 'topic' | 'group' | 'cluster';
  /** Full name; of all resources that begin with it if it ends in `*`. */
  readonly name: string;
}

/**
 * Everything that the gateway's users need: two users for each service, `dlq`, `kafka` and `doctor` for the command lines,
 * `keda` for the autoscaler of a Kubernetes cluster, `analytics` for who reads events from outside.
 */
export function neededAccess(prefix?: string): Access[] {
  const ofServices = Object.values<ServiceDeclaration>(services).flatMap((service) => serviceAccess(prefix, service));
  const ofOthers = [deadLetterAccess, topicAccess, doctorAccess, scalerAccess, outsideAccess].flatMap((access) =>
    access(prefix),
  );
  return [...ofServices, ...ofOthers];
}

function serviceAccess(prefix: string | undefined, service: ServiceDeclaration): Access[] {
  return usersOf(service).flatMap((user) => accessAs(user, prefix, service));
}

function accessAs(user: string, prefix: string | undefined, service: ServiceDeclaration): Access[] {
  const { name, consumes, reads = [], rereads = [], watches } = service;
  const group = topicName(prefix, name);
  const watched = watches === undefined ? [] : [watches];
  const topicsOf = (names: readonly TopicName[]): string[] => names.map((topic) => topicOf(prefix, topic));
  const on = (resource: Access['resource'], operation: Operation, names: readonly string[]): Access[] =>
    names.map((name) => ({ user, operation, resource, name }));
  return [
    ...on('group', 'read', consumes.length > 0 ? [group] : []),
    ...on('group', 'read', reads.length > 0 ? [`${group}.*`] : []),
    ...on('topic', 'read', topicsOf([...consumes, ...reads, ...rereads])),
    ...on('topic', 'read', consumes.includes('deadLetterReplays') ? deadLettersOf(prefix, consumes) : []),
    ...on('topic', 'write', writtenTopics(prefix, service)),
    ...on(
      'group',
      'describe',
      watched.map(({ groupId }) => topicName(prefix, groupId)),
    ),
    ...on('topic', 'describe', topicsOf(watched.flatMap((watch) => watch.topics))),
  ];
}

/** `npm run dlq`: reads dead letters, and asks their readers to handle them again. It writes to no other topic (ADR 0082). */
function deadLetterAccess(prefix: string | undefined): Access[] {
  const user = 'dlq';
  return [
    { user, operation: 'read', resource: 'group', name: `${topicName(prefix, DEAD_LETTER_GROUPS)}*` },
    ...[...deadLetterTopics(prefix).keys()].map((name): Access => ({
      user,
      operation: 'read',
      resource: 'topic',
      name,
    })),
    { user, operation: 'write', resource: 'topic', name: topicOf(prefix, 'deadLetterReplays') },
  ];
}

/** `npm run kafka`, for topics. Only a super user of the cluster can apply access lists. */
function topicAccess(prefix: string | undefined): Access[] {
  const operations = ['create', 'alter', 'alterConfigs'] as const;
  return allTopics(prefix).flatMap((name) =>
    operations.map((operation): Access => ({ user: 'kafka', operation, resource: 'topic', name })),
  );
}

/** `npm run doctor`: sees topics, groups and access lists, and no message. */
function doctorAccess(prefix: string | undefined): Access[] {
  const user = 'doctor';
  const operations = ['describe', 'describeConfigs'] as const;
  const groups = Object.values<ServiceDeclaration>(services).filter(({ consumes }) => consumes.length > 0);
  return [
    ...allTopics(prefix).flatMap((name) =>
      operations.map((operation): Access => ({ user, operation, resource: 'topic', name })),
    ),
    ...groups.map(({ name }): Access => ({
      user,
      operation: 'describe',
      resource: 'group',
      name: topicName(prefix, name),
    })),
    { user, operation: 'describe', resource: 'cluster', name: CLUSTER },
  ];
}

function allTopics(prefix: string | undefined): string[] {
  const names = (Object.keys(topics) as TopicName[]).map((topic) => topicOf(prefix, topic));
  return [...names, ...deadLetterTopics(prefix).keys()];
}

/** KEDA, which scales services by their lag. */
function scalerAccess(prefix: string | undefined): Access[] {
  const consumers = Object.values<ServiceDeclaration>(services).filter(({ consumes }) => consumes.length > 0);
  const consumed = new Set(consumers.flatMap(({ consumes }) => consumes));
  const describe = (resource: Access['resource'], name: string): Access => ({
    user: 'keda',
    operation: 'describe',
    resource,
    name,
  });
  return [
    ...consumers.map(({ name }) => describe('group', topicName(prefix, name))),
    ...[...consumed].map((topic) => describe('topic', topicOf(prefix, topic))),
  ];
}

/** Readers outside the gateway. Each copy of the data needs a group of its own, whose name begins with the user's and a dot. */
function outsideAccess(prefix: string | undefined): Access[] {
  return Object.values(outsideReaders).flatMap(({ name: user, consumes }) => {
    const group = topicName(prefix, user);
    return [
      ...[group, `${group}.*`].map((name): Access => ({ user, operation: 'read', resource: 'group', name })),
      ...consumes.map((topic): Access => ({
        user,
        operation: 'read',
        resource: 'topic',
        name: topicOf(prefix, topic),
      })),
    ];
  });
}

const OPERATIONS: Readonly<Record<Operation, AclOperationTypes>> = {
  read: AclOperationTypes.READ,
  write: AclOperationTypes.WRITE,
  describe: AclOperationTypes.DESCRIBE,
  describeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  create: AclOperationTypes.CREATE,
  alter: AclOperationTypes.ALTER,
  alterConfigs: AclOperationTypes.ALTER_CONFIGS,
};

const RESOURCES: Readonly<Record<Access['resource'], AclResourceTypes>> = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
};
/** Kafka's only name of a cluster. */
const CLUSTER = 'kafka-cluster';

function aclOf(access: Access, principalOf: (user: string) => string): AclEntry {
  const { user, operation, resource, name } = access;
  const isPrefix = name.endsWith('*');
  return {
    principal: principalOf(user),
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
    operation: OPERATIONS[operation],
    resourceType: RESOURCES[resource],
    resourceName: isPrefix ? name.slice(0, -1) : name,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  };
}

interface AccessQuestion {
  kafka: KafkaClient;
  access: readonly Access[];
  /** Kafka's name of a user: `User:api-edge` */
  principalOf: (user: string) => string;
}

/**
 * What users lack. `no-authorizer`: Kafka checks no rights.
 *
 * @throws kafkajs' error if the brokers cannot be reached or this process may not see access lists
 */
export async function missingAccess(question: AccessQuestion): Promise<Access[] | 'no-authorizer'> {
  try {
    return await withAdmin(question.kafka, (admin) => lacking(admin, question));
  } catch (error) {
    if ((error as { type?: string }).type === 'SECURITY_DISABLED') return 'no-authorizer';
    throw error;
  }
}

/**
 * Adds what is missing. Removes nothing: another installation may have the same users.
 *
 * @returns what was added
 * @throws kafkajs' error if the brokers cannot be reached or this process is not a super user
 */
export async function applyAccess(question: AccessQuestion): Promise<Access[]> {
  return withAdmin(question.kafka, async (admin) => {
    const missing = await lacking(admin, question);
    const acl = missing.map((one) => aclOf(one, question.principalOf));
    if (missing.length > 0) await admin.createAcls({ acl });
    return missing;
  });
}

async function lacking(admin: Admin, { access, principalOf }: AccessQuestion): Promise<Access[]> {
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ALLOW,
  });
  const existing = new Set(
    resources.flatMap(({ acls, ...resource }) => acls.map((acl) => key({ ...resource, ...acl }))),
  );
  return access.filter((one) => !existing.has(key(aclOf(one, principalOf))));
}

function key(acl: AclEntry): string {
  const { principal, host, operation, resourceType, resourceName, resourcePatternType } = acl;
  return [principal, host, operation, resourceType, resourcePatternType, resourceName].join('|');
}
