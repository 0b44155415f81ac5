# metrics-server is a part of the program that holds all of Kubernetes.
FROM scratch
COPY kube /metrics-server
USER 65532:65532
ENTRYPOINT ["/metrics-server"]
