#!/bin/bash
# The first checks make the members one replica set, and succeed when it has a primary. From then on an open port is
# enough: mongosh takes a second of CPU to start.
if [ -e /tmp/together ]; then
  (exec 3<>/dev/tcp/127.0.0.1/27017)
  exit
fi
mongosh --quiet --norc ${MONGOSH_OPTIONS:-} /etc/gateway/replica-set.js && touch /tmp/together
