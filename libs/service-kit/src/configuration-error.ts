/** All problems of a configuration at once, one sentence each. */
export class ConfigurationError extends Error {}
