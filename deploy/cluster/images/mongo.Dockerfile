# Stands in for mongo: the wire-compatible server of the local mesh. It ignores the options of mongod.
FROM bmg-cluster/java:17
USER 999:999
ENTRYPOINT ["sh", "-c", "exec java -Xmx640m -Xmn32m -XX:+UseSerialGC -XX:-UsePerfData \
  -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/engines/classes:/opt/engines/lib/*' \
  MongoServer 27017 /data/db/stand-in.mv 0.0.0.0"]
