# A static program alone: pause, coredns.
FROM scratch
ARG PROGRAM
COPY ${PROGRAM} /program
USER 65532:65532
ENTRYPOINT ["/program"]
