# KEDA's operator and its metrics server: the paths are those of its manifests.
FROM scratch
COPY keda keda-adapter /
USER 65532:65532
ENTRYPOINT ["/keda-adapter"]
