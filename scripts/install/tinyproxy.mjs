import { unpackPrograms } from './debian-package.mjs';

/**
 * A forward proxy for tests, from Debian.
 * @returns {Promise<{ tinyproxy: string }>} its file
 */
export async function installTinyproxy() {
  const [tinyproxy = ''] = await unpackPrograms('tinyproxy-bin', ['tinyproxy']);
  return { tinyproxy };
}
