# One image, every role: its parameter is that of `npm start`. `docker run … assay gateway` (or api, ingest, evaluators)
# runs one role, `assay migrate` and `assay keys …` are the commands, and no parameter runs all roles in one container.
# DATABASE_URL is needed always: the embedded PostgreSQL is not in the image.
#
# Node is the version that the tests run on. Tags move with security fixes; for a build that can be repeated byte for
# byte give digests: --build-arg NODE_IMAGE=node:…@sha256:… --build-arg BASE_IMAGE=debian:…@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /checkout
COPY package.json package-lock.json ./
COPY patches/ patches/
COPY scripts/ scripts/
RUN node scripts/image/build.mjs packages node_modules
COPY . .
RUN node scripts/image/build.mjs program /image

# Not the Node image: it carries npm, yarn and corepack, which nothing here runs.
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Assay" \
      org.opencontainers.image.description="An LLM gateway that logs every request and grades the answers" \
      org.opencontainers.image.licenses="MIT"
# Python runs the evaluators' code: the system's, which PYTHON's default finds. tini is the first process: it collects what evaluators' processes leave behind, which
# Node does not, and a SIGTERM in Node's first moments ends it, which the first process of a container ignores.
# DATA_DIR is open to all, like /tmp: a container may run as another user (OpenShift gives each project a number), and a tmpfs in its
# place is root's, with this mode. What is made in it, only its maker can read.
# No versions: a stable Debian changes packages for security only, and those fixes are wanted.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates libatomic1 libstdc++6 python3 tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && groupadd --gid 10001 assay \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/assay --no-create-home --shell /usr/sbin/nologin assay \
 && install --directory --owner=10001 --group=10001 --mode=1777 /var/lib/assay
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /image/ /opt/assay/

# The ports of ingest and evaluators are for the health check, on loopback.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    INGEST_PORT=8586 \
    EVALUATORS_PORT=8587 \
    DATA_DIR=/var/lib/assay
WORKDIR /opt/assay
USER 10001:10001
# What it cannot start, the build must not finish.
RUN ["node", "dist/main.js", "--help"]
# The outbox of a gateway must outlive its container. Nothing else is written: the root file system can be read-only.
VOLUME /var/lib/assay
EXPOSE 8787 8585
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "/opt/assay/dist/healthcheck.js"]
ENTRYPOINT ["tini", "-s", "--", "node", "--disable-warning=ExperimentalWarning", "/opt/assay/dist/main.js"]
