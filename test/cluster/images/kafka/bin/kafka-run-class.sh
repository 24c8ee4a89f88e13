#!/bin/sh
# Runs a class of Kafka with the environment variables that the scripts of the distribution read.
set -eu
base=$(cd "$(dirname "$0")/.." && pwd)
while [ $# -gt 0 ]; do
  case $1 in
    -name) shift 2 ;;
    -loggc | -daemon) shift ;;
    *) break ;;
  esac
done
if [ -z "${KAFKA_LOG4J_OPTS:-}" ]; then
  KAFKA_LOG4J_OPTS="-Dlog4j.configuration=file:$base/config/log4j.properties -Dlog4j2.configurationFile=$base/config/log4j2.properties"
fi
# The options are lists of words.
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} ${KAFKA_JVM_PERFORMANCE_OPTS:--server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -Djava.awt.headless=true} \
  ${KAFKA_JMX_OPTS:-} -Dkafka.logs.dir="${LOG_DIR:-$base/logs}" $KAFKA_LOG4J_OPTS -cp "$base/libs/*" ${KAFKA_OPTS:-} "$@"
