# The service as an image: `docker build --tag tidemark .`. docs/deploying.md describes how to run it.
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-bookworm-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
# The lock file has these workspaces too, and `npm ci` compares it with their manifests.
COPY client/package.json client/
COPY conformance/package.json conformance/
COPY console/package.json console/

FROM manifests AS build
# What the image was built from; the context has no history.
ARG TIDEMARK_COMMIT=unknown
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN npm run build

FROM manifests AS dependencies
RUN npm ci --omit=dev --workspaces=false --no-audit --no-fund

FROM node:${NODE_VERSION}-bookworm-slim
LABEL org.opencontainers.image.title="Tidemark" \
      org.opencontainers.image.description="Replication feeds and member writes over MongoDB that lose no change" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    LOG_FORMAT=json
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/dist dist
# By number, so that Kubernetes can verify that it is not root.
USER 1000:1000
EXPOSE 3000
# Debian's slim image has no curl. Where METRICS_PORT is set, health is served there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const { METRICS_PORT, PORT } = process.env; fetch(`http://127.0.0.1:${METRICS_PORT || PORT || 3000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
