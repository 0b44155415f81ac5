# Stands in for apache/kafka: the settings come from KAFKA_* variables as they do there.
FROM bmg-cluster/java:17
COPY kafka.sh /usr/local/bin/kafka.sh
USER 1000:1000
ENTRYPOINT ["sh", "/usr/local/bin/kafka.sh"]
