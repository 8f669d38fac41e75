#!/bin/bash
# A broker that admits only users, over TLS, and lets them do only what access lists say. /run/secrets has its
# certificate with the key, and the password of the administrator, whom the first start makes; provisioning makes the others.
set -euo pipefail
umask 077

properties=/tmp/server.properties
users=/tmp/users
data=/var/lib/kafka/data
login='org.apache.kafka.common.security.scram.ScramLoginModule required'
password=$(cat /run/secrets/ADMIN_PASSWORD)

cat >"$properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@kafka.quorum:9093
controller.listener.names=CONTROLLER
listeners=CLIENTS://:9092,CONTROLLER://kafka.quorum:9093
advertised.listeners=CLIENTS://kafka:9092
inter.broker.listener.name=CLIENTS
listener.security.protocol.map=CLIENTS:SASL_SSL,CONTROLLER:SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.clients.scram-sha-512.sasl.jaas.config=$login username="admin" password="$password";
# The controllers keep the users, so their own logins are here.
sasl.mechanism.controller.protocol=PLAIN
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="$password" user_admin="$password";
ssl.keystore.type=PEM
ssl.keystore.location=/run/secrets/tls.pem
ssl.truststore.type=PEM
ssl.truststore.location=/run/ca/ca.pem
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin
log.dirs=$data
auto.create.topics.enable=false
default.replication.factor=1
min.insync.replicas=1
offsets.topic.num.partitions=12
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
PROPERTIES

if [ ! -e "$data/meta.properties" ]; then
  # In a file: every process of the machine can read the arguments of another.
  printf '%s\n' --add-scram "SCRAM-SHA-512=[name=admin,password=$password]" >"$users"
  /opt/kafka/bin/kafka-storage.sh format --cluster-id "$(/opt/kafka/bin/kafka-storage.sh random-uuid)" \
    --config "$properties" "@$users"
  rm "$users"
fi
exec /opt/kafka/bin/kafka-server-start.sh "$properties"
