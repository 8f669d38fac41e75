// For mongosh: makes MEMBERS one replica set, if the set is still missing, and where ADMIN_PASSWORD_FILE names one, the
// administrator. Ends with 0 when there is a primary, and this is done.
const { readFileSync } = require('node:fs');

const members = (process.env.MEMBERS ?? '').split(',').map((host, _id) => ({ _id, host }));
const passwordFile = process.env.ADMIN_PASSWORD_FILE;

/** A server without users lets its own machine create the first one, and tells others nothing. */
function ensureAdministrator() {
  const admin = db.getSiblingDB('admin');
  // Editors and recipes end files with a newline. Whoever logs in as administrator reads the file without it.
  const password = readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '');
  try {
    admin.createUser({ user: 'admin', pwd: password, roles: ['root'] });
  } catch (error) {
    if (admin.auth('admin', password).ok !== 1) throw error;
  }
}

try {
  if (process.env.MEMBERS && !db.hello().setName) rs.initiate({ _id: 'rs0', members });
  const { isWritablePrimary, primary } = db.hello();
  if (passwordFile && isWritablePrimary) ensureAdministrator();
  quit(primary && (isWritablePrimary || !passwordFile) ? 0 : 1);
} catch (error) {
  // Not all of them are up yet.
  print(error.message);
  quit(1);
}
