# Stands in for node:24-slim: Debian 12 from debootstrap with the Node of the npm registry.
FROM bmg-cluster/debian:12
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
# Set if registries are reached through an authority of the machine's own.
ARG NODE_EXTRA_CA_CERTS
ENV NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS}
CMD ["node"]
