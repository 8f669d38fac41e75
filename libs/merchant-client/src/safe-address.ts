const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** True if nobody can read what is sent there: https, or this machine. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOCAL.test(hostname));
}
