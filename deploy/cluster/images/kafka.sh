#!/bin/sh
# Writes server.properties from the KAFKA_* variables, formats an empty log folder, and runs the
# broker.
set -eu
file=/tmp/server.properties
env | sed -n 's/^KAFKA_\([A-Z0-9_]*\)=\(.*\)$/\1 \2/p' | while read -r name value; do
  echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
done >"$file"
# One small broker: fewer partitions of its internal topics, and no wait for other members of a
# group.
cat >>"$file" <<'EOF'
offsets.topic.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=8388608
EOF
flags='-XX:+UseSerialGC -XX:-UsePerfData -Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
java $flags -Xmx128m -cp '/opt/engines/lib/*' kafka.tools.StorageTool format \
  --ignore-formatted -t Ym1nLWxvY2FsLWthZmthIQ -c "$file"
exec java $flags -Xmx512m -Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info \
  -cp '/opt/engines/lib/*' kafka.Kafka "$file"
