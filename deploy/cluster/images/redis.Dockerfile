# Stands in for redis: the same binary as in the local mesh.
FROM bmg-cluster/debian:12
COPY redis-server /usr/local/bin/redis-server
USER 999:999
WORKDIR /data
ENTRYPOINT ["redis-server", "--protected-mode", "no", "--bind", "0.0.0.0", "--dir", "/data"]
