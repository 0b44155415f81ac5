# The base of the Kafka and MongoDB images.
FROM bmg-cluster/debian:12
RUN apt-get update -qq && mkdir -p /usr/share/man/man1 \
 && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless && rm -rf /var/lib/apt/lists/*
COPY lib /opt/engines/lib
COPY classes /opt/engines/classes
