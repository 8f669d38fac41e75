#!/bin/bash
# A member that admits only users, over TLS. /run/secrets has its certificate with the key, and the members' common key,
# which mongod wants to be readable by nobody else. The health check makes the first user.
set -euo pipefail

key=/tmp/member.key
install -m 400 /run/secrets/member.key "$key"
if [ "$(id -u)" = 0 ] && id mongodb >/dev/null 2>&1; then
  # Last: root without FOWNER cannot change the mode of somebody else's file, as `install -o` would.
  chown mongodb:mongodb "$key"
fi
exec docker-entrypoint.sh mongod --replSet rs0 --wiredTigerCacheSizeGB 0.25 \
  --auth --keyFile "$key" \
  --tlsMode requireTLS --tlsCertificateKeyFile /run/secrets/tls.pem --tlsCAFile /run/ca/ca.pem \
  --tlsAllowConnectionsWithoutCertificates
