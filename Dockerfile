# The image of the manager: the static binary of `make build`, and nothing else.
FROM scratch
COPY bin/detent /detent
USER 65532:65532
ENTRYPOINT ["/detent"]
