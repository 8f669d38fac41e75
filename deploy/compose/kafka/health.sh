#!/bin/bash
# Healthy once all brokers of the cluster have accepted connections, so that topics get their replicas. From then on
# each counts for itself. Kafka's own tools would start a JVM for every check.
if [ -e /tmp/together ]; then
  (exec 3<>/dev/tcp/127.0.0.1/9092)
  exit
fi
for broker in ${BROKERS//,/ }; do
  (exec 3<>"/dev/tcp/${broker/://}") || exit 1
done
touch /tmp/together
